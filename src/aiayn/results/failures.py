"""What the last `aiayn repro` did not finish, and why: logs/failures.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results.json_files import read_json, write_json
from aiayn.validation import StrictModel


class Failures(StrictModel):
    """The failed stage and its error, by task, run, or stage without either.

    A run is listed if any stage that its score depends on failed, including its task's stages.
    """

    unfinished: Mapping[str, str]


def write(path: Path, unfinished: Mapping[str, str]) -> None:
    """Write the file; with nothing unfinished, delete it."""
    if unfinished:
        write_json(path, Failures(unfinished=unfinished), indent=2)
    else:
        path.unlink(missing_ok=True)


def read(path: Path | None) -> Mapping[str, str]:
    """What is unfinished, with the reasons; nothing if `path` is None.

    Raises:
        DataError: there is no such file, or it is damaged.
    """
    if path is None:
        return {}
    return read_json(Failures, path, lambda file, text: DataError(f"{file}: {text}")).unfinished
