"""JSON files of one record each, read strictly. Fields that are None are not written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import Field, ValidationError

from aiayn.errors import AiaynError
from aiayn.files import write_atomically
from aiayn.validation import StrictModel, message

T = TypeVar("T")
M = TypeVar("M", bound=StrictModel)

FileError = Callable[[Path, str], AiaynError]
"""Makes the error for a kind of file, from its path and a sentence about what is wrong."""


def file_error(error: type[AiaynError], stage: Callable[[Path], str]) -> FileError:
    """The error for files that a stage makes again."""
    return lambda path, what: error(f"{path}: {what} Make it again: dvc repro -f {stage(path)}.")


class Sourced(StrictModel):
    """A part of a record to which tables link: `source` is its location, FILE:KEY.KEY. It is not
    written to the file: `JsonFile.read` sets it."""

    source: str = Field(default="", exclude=True, repr=False)


def with_sources(value: T, source: str) -> T:
    """A copy in which `source` is set in every `Sourced` part.

    Args:
        source: the location of `value`: a file name and a colon for a whole file.
    """

    def below(key: str) -> str:
        return f"{source}{key}" if source.endswith(":") else f"{source}.{key}"

    if isinstance(value, StrictModel):
        changes = {name: with_sources(part, below(name)) for name, part in value}
        if isinstance(value, Sourced):
            changes["source"] = source
        return value.model_copy(update=changes)
    if isinstance(value, dict):
        return {key: with_sources(part, below(key)) for key, part in value.items()}  # type: ignore[return-value]
    return value


def plain(record: StrictModel) -> dict[str, Any]:
    """A record as plain data, as written to its file."""
    return record.model_dump(by_alias=True, exclude_none=True)


def leaves(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested mappings by dotted key."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def write_json(path: Path, record: StrictModel | Mapping[str, Any], **layout: Any) -> None:
    """Write a record; `layout` are arguments of `json.dumps`."""
    write_atomically(path, json_text(record, **layout))


def json_text(record: StrictModel | Mapping[str, Any], **layout: Any) -> str:
    """The content of a record's file."""
    data = plain(record) if isinstance(record, StrictModel) else record
    return json.dumps(data, ensure_ascii=False, **layout) + "\n"


class JsonFile(Generic[M]):
    """A kind of file that holds one record.

    Args:
        record: the type of the record.
        error: makes the error that reading raises if a file is missing or not such a record.
        layout: arguments of `json.dumps`.
    """

    def __init__(self, record: type[M], error: FileError, **layout: Any) -> None:
        self._record = record
        self._error = error
        self._layout = layout

    def write(self, path: Path, record: M) -> None:
        """Write a record."""
        write_atomically(path, self.content(record))

    def content(self, record: M) -> str:
        """The content of a record's file."""
        return json_text(record, **self._layout)

    def read(self, path: Path) -> M:
        """Read a record, and set the sources of its parts."""
        record = self.parse(read_bytes(path, self._error), path)
        return with_sources(record, f"{path.name}:")

    def parse(self, content: bytes | str, path: Path) -> M:
        """The record in the content of `path`."""
        try:
            return self._record.model_validate(json.loads(content, parse_constant=_refuse))
        except ValidationError as cause:
            raise self._error(path, message(cause)) from cause
        except RecursionError as cause:
            raise self._error(path, "nested too deeply.") from cause
        except ValueError as cause:
            raise self._error(path, f"not JSON ({' '.join(str(cause).split())}).") from cause


def read_bytes(path: Path, error: FileError) -> bytes:
    """A file's content. Raises what `error` makes if the file is missing."""
    try:
        return path.read_bytes()
    except FileNotFoundError as cause:
        raise error(path, "there is no such file.") from cause


def if_there(read: Callable[[Path], T], path: Path) -> T | None:
    """`read(path)`, or None if the file does not exist yet."""
    return read(path) if path.exists() else None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a number")
