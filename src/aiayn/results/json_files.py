"""JSON files of one record each, read without tolerance. A field that is None is left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from aiayn.errors import AiaynError
from aiayn.files import write_atomically
from aiayn.validation import StrictModel, message

T = TypeVar("T")
M = TypeVar("M", bound=StrictModel)

FileError = Callable[[Path, str], AiaynError]
"""Makes the error for a kind of file, from its path and a sentence that says what is wrong."""


class Sourced(StrictModel):
    """A part of a record to which tables link: `source` says where it is, FILE:KEY.KEY, and is no
    part of the file. Readers fill it in by `with_sources`."""

    source: str = Field(default="", exclude=True, repr=False)


def with_sources(value: T, source: str) -> T:
    """The same, every `Sourced` part below it with its source.

    Args:
        source: of the whole; a file's name and a colon.
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
    """A record as plain data, as its file has it."""
    return record.model_dump(by_alias=True, exclude_none=True)


def write_json(path: Path, record: StrictModel | Mapping[str, Any], **layout: Any) -> None:
    """Write a record, laid out as by the same arguments of `json.dumps`."""
    write_atomically(path, json_text(record, **layout))


def json_text(record: StrictModel | Mapping[str, Any], **layout: Any) -> str:
    """The content of a record's file."""
    data = plain(record) if isinstance(record, StrictModel) else record
    return json.dumps(data, ensure_ascii=False, **layout) + "\n"


def read_json(kind: type[M], path: Path, error: FileError) -> M:
    """The record that a file holds.

    Raises:
        the kind's error: there is no such file, it is not JSON, or not such a record.
    """
    return parse_json(kind, read_bytes(path, error), path, error)


def parse_json(kind: type[M], content: bytes | str, path: Path, error: FileError) -> M:
    """As `read_json`, of content that was read from `path`."""
    try:
        return kind.model_validate(json.loads(content, parse_constant=_refuse))
    except ValidationError as cause:
        raise error(path, message(cause)) from cause
    except RecursionError as cause:
        raise error(path, "nested too deeply.") from cause
    except ValueError as cause:
        raise error(path, f"not JSON ({' '.join(str(cause).split())}).") from cause


def read_bytes(path: Path, error: FileError) -> bytes:
    """A file's content; the kind's error if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError as cause:
        raise error(path, "there is no such file.") from cause


def if_there(read: Callable[[Path], T], path: Path) -> T | None:
    """What `read` makes of a file, or None before the stage that writes it has run."""
    return read(path) if path.exists() else None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")
