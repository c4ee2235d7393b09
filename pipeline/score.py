"""Score one run's translations or trees. Reads outputs/RUN and data/text/TASK; writes
scores/RUN.json and, for `dvc metrics show`, metrics/RUN.json: the values alone."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from aiayn import config
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.scoring.splits import score_task_split


@one_line_errors
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run")
    name = parser.parse_args().run
    parameters = config.load()
    run = parameters.run(name)
    task = parameters.task(run.task)
    splits, metrics = {}, {}
    for split in parameters.splits_of(name):
        scored = score_task_split(task, split, Path("data/text", run.task), Path("outputs", name))
        splits[split], metrics[split] = scored.to_json(), scored.values()
    report = {"run": name, "task": run.task, "model": run.model, "splits": splits}
    for folder, content in (("scores", report), ("metrics", metrics)):
        text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        write_atomically(Path(folder) / f"{name}.json", text)


if __name__ == "__main__":
    main()
