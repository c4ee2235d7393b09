"""JSON files of typed records: written as the record stands, read without tolerance.

A field that is None is left out of the file. A field that does not count in comparisons is no part
of it either: it tells where in the file a figure stands, FILE:KEY.KEY, and `placed` fills it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from aiayn.errors import AiaynError
from aiayn.typed import MismatchError, build

T = TypeVar("T")

Complaint = Callable[[Path, str], AiaynError]
"""The error of a kind of file, from its path and a sentence that tells what is wrong with it."""


def if_there(read: Callable[[Path], T], path: Path) -> T | None:
    """What `read` makes of a file, or None before the stage that writes it has run."""
    return read(path) if path.exists() else None


def read_json(path: Path, complaint: Complaint) -> Any:
    """The file's content as plain data.

    Raises:
        the kind's error: there is no such file, or it is not JSON.
    """
    return parse_json(read_bytes(path, complaint), path, complaint)


def read_bytes(path: Path, complaint: Complaint) -> bytes:
    """The file's content; the kind's error if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise complaint(path, "there is no such file.") from error


def parse_json(content: bytes | str, path: Path, complaint: Complaint) -> Any:
    """Plain data from JSON that stood at `path`; not-a-number is none."""
    try:
        return json.loads(content, parse_constant=_refuse)
    except RecursionError as error:
        raise complaint(path, "nested too deeply.") from error
    except ValueError as error:
        raise complaint(path, f"not JSON ({' '.join(str(error).split())}).") from error


def shaped(kind: type[T], data: Any, path: Path, complaint: Complaint, key: str = "") -> T:
    """Plain data that stood at `path`, below `key`, as a record.

    Raises:
        the kind's error: a key is missing or unknown, or a value is of another type.
    """
    try:
        record: T = build(kind, data, key)
    except MismatchError as error:
        raise complaint(path, str(error)) from error
    return record


def plain(record: Any) -> Any:
    """A record as plain data: what stands in the file."""
    if is_dataclass(record):
        held = {f.name: getattr(record, f.name) for f in fields(record) if f.compare}
        return {name: plain(value) for name, value in held.items() if value is not None}
    if isinstance(record, Mapping):
        return {key: plain(value) for key, value in record.items()}
    if isinstance(record, tuple | list):
        return [plain(value) for value in record]
    return record


def placed(record: T, place: str) -> T:
    """The record, each part of which says where it stands if it has a field for that.

    Args:
        place: of the whole record; a file's name and a colon.
    """
    if is_dataclass(record) and not isinstance(record, type):
        changes = {
            f.name: placed(getattr(record, f.name), _below(place, f.name)) if f.compare else place
            for f in fields(record)
        }
        return replace(record, **changes)
    if isinstance(record, Mapping):
        return MappingProxyType(  # type: ignore[return-value]
            {key: placed(value, _below(place, key)) for key, value in record.items()}
        )
    return record


def _below(place: str, key: str) -> str:
    return f"{place}{key}" if place.endswith(":") else f"{place}.{key}"


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")
