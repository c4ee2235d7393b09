"""What the last `aiayn repro` could not finish, and why: logs/failures.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results.json_files import read_json, write_json
from aiayn.validation import StrictModel


class Failures(StrictModel):
    """By task, run, or stage without either: the stage that failed, and its error.

    A run is named where a stage failed that its score needs, one of its task's too.
    """

    unfinished: Mapping[str, str]


def write(path: Path, unfinished: Mapping[str, str]) -> None:
    """Write the file; with nothing unfinished, delete it."""
    if unfinished:
        write_json(path, Failures(unfinished=unfinished), indent=2)
    else:
        path.unlink(missing_ok=True)


def read(path: Path | None) -> Mapping[str, str]:
    """What is unfinished, with the reasons; None: nothing is.

    Raises:
        DataError: there is no such file, or it is damaged.
    """
    if path is None:
        return {}
    return read_json(Failures, path, lambda file, text: DataError(f"{file}: {text}")).unfinished
