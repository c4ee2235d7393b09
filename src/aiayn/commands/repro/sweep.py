"""Adds rows to params.yaml in the current folder: a model with several values of one column, each
with the model's seeds. `make sweep` then runs the new ones.

They are compared with table 3's base, like its rows. Composing the parameters again removes them;
their results stay in DVC's cache.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import yaml

from aiayn import config
from aiayn.errors import ConfigError, one_line_errors
from aiayn.files import write_atomically
from aiayn.validation import nearest

SWEEP = re.compile(r"(?:models\.)?([^.=]+)\.(\w+)=(.+)")


def add_rows(params: Path, sweep: str) -> list[str]:
    """Add the rows of a sweep, such as base.P_drop=0.0,0.2, and return the names of their runs.

    Raises:
        ConfigError: the sweep is invalid, there is no such model, column or run, or a value is
            wrong; nothing was changed.
    """
    found = SWEEP.fullmatch(sweep)
    if not found:
        raise ConfigError(
            f"{sweep!r} is not a sweep. Write MODEL.COLUMN=VALUE,VALUE: base.P_drop=0,0.2"
        )
    model, column, values = found.groups()
    config.load(params)
    content = config.read_yaml(params.read_bytes())
    models, runs = content["models"], content["runs"]
    if model not in models:
        raise ConfigError(f"{sweep}: there is no model {model!r}.{nearest(model, models)}")
    added = {}
    for value in values.split(","):
        name = f"{model}_{column}_{value.strip()}".replace(".", "_")  # DVC tracks no dotted name
        models[name] = {**models[model], column: config.read_yaml(value.encode())}
        for run in [run for run in runs.values() if run["model"] == model]:
            seed = f"-s{run['seed']}" if run["seed"] != 1 else ""
            added[f"{run['task']}.{name}{seed}"] = {**run, "model": name}
    if not added:
        raise ConfigError(f"{sweep}: no run of params.yaml has the model {model}.")
    content["runs"] = {**runs, **added}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True).encode()
    config.parse(text)
    write_atomically(params, text)
    return [*added]


@one_line_errors
def main() -> None:
    """Add the rows of the sweep that the command line names."""
    if len(sys.argv) != 2 or not sys.argv[1]:
        raise ConfigError("say what to vary: make sweep SET=base.P_drop=0,0.2")
    print(f"Added: {', '.join(add_rows(Path(config.PARAMS), sys.argv[1]))}")


if __name__ == "__main__":
    main()
