"""What the last `aiayn repro` did not finish, and why: logs/failures.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results.json_files import JsonFile
from aiayn.validation import StrictModel


class Failures(StrictModel):
    """The failed stage and its error, by task, run, or stage without either.

    A run is listed if any stage that its score depends on failed, including its task's stages.
    """

    unfinished: Mapping[str, str]


_FILE = JsonFile(Failures, lambda path, what: DataError(f"{path}: {what}"), indent=2)


def write(path: Path, unfinished: Mapping[str, str]) -> None:
    """Write the file; with nothing unfinished, delete it."""
    if unfinished:
        _FILE.write(path, Failures(unfinished=unfinished))
    else:
        path.unlink(missing_ok=True)


def read(path: Path | None) -> Mapping[str, str]:
    """What is unfinished, with the reasons; nothing if `path` is None.

    Raises:
        DataError: there is no such file, or it is damaged.
    """
    if path is None:
        return {}
    return _FILE.read(path).unfinished
