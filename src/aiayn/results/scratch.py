"""What a training keeps for itself, in a folder of its own, until dvc.lock records what it made.

DVC removes a stage's outputs before it runs the stage, and knows of new ones only when dvc.lock has
them. A training that ended is therefore not over: killed before that, it is started again, and has
to find its outputs where it left them.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results import paths
from aiayn.results.lock import Lock


def finished(folder: Path) -> Path:
    """The circumstances of a training that has ended, in its scratch folder; byte for byte those
    among its outputs, so that dvc.lock tells whether the outputs are this training's.
    """
    return folder / "train.json"


def delete(folder: Path) -> None:
    """Delete a scratch folder, which holds files alone; others may do the same at the same time, as
    trainings do that begin together. The state to go on from goes first: killed halfway, what is
    left is not taken for a training. The record that it has ended goes last: by it, what is left is
    found and deleted by the next.
    """
    first, last = paths.resume(folder), finished(folder)
    with suppress(FileNotFoundError):
        for path in sorted(folder.iterdir(), key=lambda path: (path == last, path != first)):
            path.unlink(missing_ok=True)
        folder.rmdir()


def delete_recorded(root: Path) -> None:
    """Delete the scratch folder of every training that dvc.lock below `root` records."""
    ended = sorted((root / paths.SCRATCH).glob(str(finished(Path("*")))))
    if not ended:
        return
    try:
        lock = Lock(root / paths.LOCK)
    except DataError:  # DVC may be writing it at this moment: another time
        return
    for record in ended:
        run = record.parent.name.rpartition("-")[0]
        recorded = lock.out(paths.training_metadata(run).as_posix())
        with suppress(FileNotFoundError):  # another training has just deleted it
            content = record.read_bytes()
            if recorded == hashlib.md5(content, usedforsecurity=False).hexdigest():
                delete(record.parent)
