"""What a training keeps for itself, in a folder of its own, until dvc.lock records what it made.

DVC removes a stage's outputs before it runs the stage, and knows of new ones only when dvc.lock has
them. A training that ended is therefore not over: killed before that, it is started again, and has
to find its outputs where it left them.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results import paths
from aiayn.results.lock import Lock
from aiayn.results.metadata import read_train


def finished(folder: Path) -> Path:
    """A training's metadata, in its scratch folder: there only if the training has ended."""
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


def delete_recorded(root: Path, starting: str | None = None) -> None:
    """Delete the scratch folder of every training that dvc.lock below `root` records.

    Args:
        starting: the run that is about to be trained, if one is.
    """
    ended = sorted((root / paths.SCRATCH).glob(str(finished(Path("*")))))
    if not ended:
        return
    try:
        lock = Lock(root / paths.LOCK)
    except DataError:  # DVC may be writing it at this moment: another time
        return
    for record in ended:
        run = record.parent.name.rpartition("-")[0]
        if run != starting and not (root / paths.history(run)).exists():
            continue  # it is ending just now
        with suppress(DataError, FileNotFoundError):  # another training has just deleted it
            if _is_recorded(lock, run, record, root / paths.LOCK):
                delete(record.parent)


def _is_recorded(lock: Lock, run: str, record: Path, lock_file: Path) -> bool:
    """Whether dvc.lock was written after the training, with its history: an older lock may come
    from another machine, where the same training had the same outputs."""
    return (
        lock.out(paths.history(run).as_posix()) == read_train(record).history_md5
        and lock_file.stat().st_mtime_ns >= record.stat().st_mtime_ns
    )
