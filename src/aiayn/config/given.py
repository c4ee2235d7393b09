"""What a stage is given of the parameters: what dvc.yaml lists for it, and nothing else.

So no stage can read a parameter whose change would not run it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import yaml

from aiayn.config.schema import Config
from aiayn.errors import ConfigError

Keys = tuple[str, ...]


def given(config: Config, graph: Path, stage: str, item: str = "") -> Config:
    """`config` with what the file `graph` lists for a stage; everything else refuses to be read.

    What DVC sees change in another way is given too: to a stage of a run, the run, and whether it
    is tested, because the stage's definition is made of these; to one that reads a run's weights,
    its model's row, because the weights' metadata hold it; to one that reads a task's text, what
    text that is, because another one is made anew.

    Args:
        item: the task or the run, where there is one stage for each.
    Raises:
        ConfigError: there is no such file, task or run.
    """
    try:
        definition = yaml.load(graph.read_bytes(), yaml.CSafeLoader)["stages"][stage]
    except OSError as error:
        raise ConfigError(
            f"{graph}: {error.strerror}. It lists what stages read: run from the project's folder."
        ) from error
    names = {"key": item, "item": item}
    kept: list[Keys] = []
    over = definition.get("foreach")
    if over == "${tasks}":
        config.task(item)
    elif over in ("${runs}", "${tested}"):
        described = config.run(item)
        names |= {"item.task": described.task, "item.model": described.model}
        kept = [("runs", item), ("tested", item)]
    body = definition.get("do", definition)
    deps = body.get("deps", ())
    if any(dep.startswith("models/") for dep in deps):
        run = item if over else config.illustrations.run
        kept += [("runs", run), ("models", config.run(run).model)]
    if "data/text/${item.task}" in deps:
        kept.append(("tasks", described.task, "text"))
    listed = body.get("params", ())
    kept += [tuple(names.get(name, name) for name in _names(keys)) for keys in listed]
    view: Config = _only(config, kept, "", stage)
    return view


def _names(keys: str) -> Iterator[str]:
    """The names of which a parameter is made in dvc.yaml: of `models.${item.model}`, models and
    item.model."""
    for found in re.finditer(r"\$\{([^}]+)\}|[^.]+", keys):
        yield found[1] or found[0]


def _only(value: Any, kept: Iterable[Keys], place: str, stage: str) -> Any:
    kept = list(kept)
    if not all(kept):  # all of it
        return value
    below = {name: [keys[1:] for keys in kept if keys[0] == name] for name, *_ in kept}
    if isinstance(value, tuple):
        return tuple(element for element in value if element in below)
    if isinstance(value, Mapping):
        parts = {name: _only(value[name], below[name], f"{place}{name}.", stage) for name in below}
        return _Given(parts, place, stage)
    assert is_dataclass(value)
    hidden = {
        field.name: _refusing(f"{place}{field.name}", stage)
        for field in fields(value)
        if field.name not in below
    }
    kind = type(value)
    shape = {"__repr__": lambda part: f"{kind.__name__}({vars(part)})", **hidden}
    part: Any = object.__new__(type(kind.__name__, (kind,), shape))
    for name in below:
        shown = _only(getattr(value, name), below[name], f"{place}{name}.", stage)
        object.__setattr__(part, name, shown)
    return part


class _Given(dict[str, Any]):
    """The entries that a stage is given of a mapping."""

    def __init__(self, entries: Mapping[str, Any], place: str, stage: str) -> None:
        super().__init__(entries)
        self.place, self.stage = place, stage

    def __missing__(self, name: str) -> Any:
        raise _unlisted(f"{self.place}{name}", self.stage)


def _refusing(key: str, stage: str) -> property:
    def refuse(_: object) -> Any:
        raise _unlisted(key, stage)

    return property(refuse)


def _unlisted(key: str, stage: str) -> ConfigError:
    return ConfigError(
        f"dvc.yaml: the stage {stage} reads {key}, which is not among its params. List it there."
    )
