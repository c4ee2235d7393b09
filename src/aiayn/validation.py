"""The base class of parameters and records, valid names, and one-line messages for invalid data."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Strict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

T = TypeVar("T")

Items = Annotated[tuple[T, ...], Strict(False)]
"""A tuple; YAML's and JSON's lists are accepted, but their items are not converted."""


class StrictModel(BaseModel):
    """A frozen record: no unknown keys, no type conversion, no NaN or infinity."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _report_unknown_keys(cls, data: Any) -> Any:
        """Before missing keys: a misspelled key is both."""
        if isinstance(data, dict) and cls.model_config["extra"] == "forbid":
            keys = [field.alias or name for name, field in cls.model_fields.items()]
            for key in data:
                if key not in keys and key not in cls.model_fields:
                    raise invalid(str(key), f"is not a known key.{nearest(key, keys)}")
        return data

    def replace(self, **changes: Any) -> Self:
        """A copy with some values changed, validated (unlike model_copy)."""
        return type(self)(**{**dict(self), **changes})


def invalid(key: str, problem: str) -> PydanticCustomError:
    """The error for a validator to raise.

    Args:
        key: dotted, relative to the value that is being validated; "" for this value itself.
        problem: what is wrong and what to do: the rest of a sentence that starts with the key.
    """
    return PydanticCustomError("rule", "{problem}", {"key": key, "problem": problem})


def nearest(name: Any, names: Iterable[str]) -> str:
    """A sentence that suggests the closest of `names`, or lists them all if none is close."""
    names = list(names)
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(names)}."


# safe in a path, in a stage's name and in a shell command without quoting
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def check_name(name: str) -> str:
    """Returns the name. Raises ValueError unless it is safe in a path and in a command."""
    if not NAME.fullmatch(name):
        raise invalid(
            "",
            f"has the invalid name {name!r}. Use letters, digits, '_', '-' and '.', at most 100, "
            "with a letter or a digit first.",
        )
    return name


Name = Annotated[str, AfterValidator(check_name)]


def check_reference(name: str, names: Iterable[str], key: str, noun: str) -> None:
    """Raises ValueError, with the closest name, unless `name` is one of `names`."""
    if name not in names:
        raise invalid(
            key, f"names the {noun} {name!r}, which does not exist.{nearest(name, names)}"
        )


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100
_WORDING = {  # replaces pydantic's wording, which is about Python, not about YAML or JSON
    "missing": "is missing",
    "dict_type": "must be a mapping",
    "mapping_type": "must be a mapping",
    "model_type": "must be a mapping",
    "tuple_type": "must be a list",
    "too_short": "needs at least one item",
}


def message(error: ValidationError) -> str:
    """The first error, on one line that begins with its dotted key."""
    first = error.errors(include_url=False)[0]
    key = _dotted_key(first)
    if first["type"] == "rule":
        return f"{key} {first['msg']}"
    wording = _WORDING.get(first["type"], first["msg"].replace("Input should", "must"))
    found = "" if first["type"] == "missing" else f", not {_SHORT.repr(first['input'])}"
    return f"{key} {wording}{found}."


def _dotted_key(error: ErrorDetails) -> str:
    """Such as tasks.en-de.text.train[0]; for an invalid key of a mapping, the mapping's key."""
    parts = [*error["loc"], *filter(None, [error.get("ctx", {}).get("key")])]
    if parts and parts[-1] == "[key]":
        parts = parts[:-2]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return key.removeprefix(".") or "the file"
