"""Scratch folders: the state and outputs of a training, kept until dvc.lock records its outputs.

DVC deletes a stage's outputs before it runs the stage, and records new ones in dvc.lock only after
the stage has ended. If DVC is killed in between, it runs the finished training again, which then
recovers its outputs from the scratch folder.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results import paths
from aiayn.results.lock import Lock
from aiayn.results.metadata import read_train


def finished(folder: Path) -> Path:
    """A training's metadata, in its scratch folder; it exists only if the training has ended."""
    return folder / "train.json"


def delete(folder: Path) -> None:
    """Delete a scratch folder, which contains only files. Several trainings that start together may
    do so concurrently. The resume state is deleted first, so that a partly deleted folder is never
    resumed; the record `finished` last, so that the next call finds a partly deleted folder.
    """
    first, last = paths.resume(folder), finished(folder)
    with suppress(FileNotFoundError):
        for path in sorted(folder.iterdir(), key=lambda path: (path == last, path != first)):
            path.unlink(missing_ok=True)
        folder.rmdir()


def delete_recorded(root: Path, starting: str | None = None) -> None:
    """Delete the scratch folder of every training that dvc.lock below `root` records.

    Args:
        starting: the run that is about to be trained, if any.
    """
    ended = sorted((root / paths.SCRATCH).glob(str(finished(Path("*")))))
    if not ended:
        return
    try:
        lock = Lock(root / paths.LOCK)
    except DataError:  # DVC may be writing it: leave it to the next call
        return
    for record in ended:
        run = record.parent.name.rpartition("-")[0]
        if run != starting and not (root / paths.history(run)).exists():
            continue  # the training is just ending
        with suppress(DataError, FileNotFoundError):  # another training has just deleted it
            if _is_recorded(lock, run, record, root / paths.LOCK):
                delete(record.parent)


def _is_recorded(lock: Lock, run: str, record: Path, lock_file: Path) -> bool:
    """Whether dvc.lock has the training's history and was written after it. An older lock may come
    from another machine, where the same training had the same outputs."""
    return (
        lock.out(paths.history(run).as_posix()) == read_train(record).history_md5
        and lock_file.stat().st_mtime_ns >= record.stat().st_mtime_ns
    )
