"""Where a finished training puts what it made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiayn.files import replaced_folder, write_atomically
from aiayn.model.checkpoints import checkpoints
from aiayn.training.loop import Outcome


def make_room(root: Path, run: str) -> None:
    """Make the folders that `write_outputs` will write to: better to fail now than after training.

    Raises:
        OSError: one cannot be made.
    """
    for folder in (root / "models" / run, root / "history", root / "circumstances"):
        folder.mkdir(parents=True, exist_ok=True)


def write_outputs(
    root: Path, scratch: Path, outcome: Outcome, circumstances: Mapping[str, Any]
) -> None:
    """Write models/RUN/checkpoints, history/RUN.csv and circumstances/RUN.train.json below `root`;
    then `scratch`, which held the checkpoints until now, goes.
    """
    run = outcome.run
    with replaced_folder(root / "models" / run / "checkpoints") as folder:
        for weights in checkpoints(scratch):
            shutil.copyfile(weights, folder / weights.name)
    write_atomically(root / "history" / f"{run}.csv", outcome.history_csv())
    report = json.dumps(circumstances, indent=2, sort_keys=True) + "\n"
    write_atomically(root / "circumstances" / f"{run}.train.json", report)
    shutil.rmtree(scratch)
