"""Plain values, as of YAML or JSON, as frozen dataclasses; every complaint names the dotted key."""

from __future__ import annotations

import difflib
import reprlib
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

# a wrong value in a message: some of it will do, and what is nested without end has no repr
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 100


class MismatchError(ValueError):
    """A value is not what its type says; the message names its key."""


def build(kind: Any, value: Any, key: str = "", noun: str = "key") -> Any:
    """`value` as an instance of `kind`; `key` is the dotted path, for messages.

    Args:
        kind: a dataclass, Mapping[str, X], tuple[X, ...], X | None, Literal, a plain type, or Any.
        noun: what messages call a key.
    Raises:
        MismatchError: a key is unknown or missing, or a value is of another type.
    """
    if kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = next(option for option in get_args(kind) if option is not type(None))
        return None if value is None else build(inner, value, key, noun)
    if is_dataclass(kind):
        return _build_dataclass(kind, value, key, noun)
    if origin is Mapping:
        _expect(isinstance(value, dict), key, "a mapping", value)
        inner = get_args(kind)[1]
        return types.MappingProxyType(
            {str(name): build(inner, item, _join(key, name), noun) for name, item in value.items()}
        )
    if origin is tuple:
        _expect(isinstance(value, list), key, "a list", value)
        inner = get_args(kind)[0]
        return tuple(build(inner, item, f"{key}[{n}]", noun) for n, item in enumerate(value))
    if origin is Literal:
        options = get_args(kind)
        _expect(value in options, key, "one of " + ", ".join(map(str, options)), value)
        return value
    if kind is float:
        # bool is an int to Python, not to a reader of YAML
        _expect(
            isinstance(value, int | float) and not isinstance(value, bool),
            key,
            "a valid number",
            value,
        )
        _expect(abs(value) <= sys.float_info.max, key, "a finite number", value)  # nan is not
        return float(value)
    if kind is int:
        _expect(
            isinstance(value, int) and not isinstance(value, bool), key, "a valid integer", value
        )
        return value
    names = {str: "text", bool: "true or false"}
    _expect(isinstance(value, kind), key, names[kind], value)
    return value


def _build_dataclass(kind: Any, value: Any, key: str, noun: str) -> Any:
    _expect(isinstance(value, dict), key or "the file", "a mapping", value)
    hints, known = _shape(kind)
    for name in value:
        if name not in known:
            raise MismatchError(
                f"{_join(key, name)} is not a known key.{nearest(str(name), known)}"
            )
    for name, required in known.items():
        if required and name not in value:
            raise MismatchError(f"{_join(key, name)} is missing.")
    return kind(
        **{name: build(hints[name], item, _join(key, name), noun) for name, item in value.items()}
    )


@cache
def _shape(kind: Any) -> tuple[dict[str, Any], dict[str, bool]]:
    """The types of a dataclass's fields by name, and which of them must be there."""
    required = {
        field.name: field.default is MISSING and field.default_factory is MISSING
        for field in fields(kind)
    }
    return get_type_hints(kind), required


def _expect(holds: bool, key: str, wanted: str, value: Any) -> None:
    if not holds:
        raise MismatchError(f"{key} must be {wanted}, not {_SHOWN.repr(value)}.")


def nearest(name: str, names: Iterable[str]) -> str:
    """A sentence that names the nearest of `names`, or all of them where none is near."""
    names = list(names)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(names)}."


def _join(key: str, name: Any) -> str:
    return f"{key}.{name}" if key else str(name)
