"""The base of all typed parameters and records, and one clear line for data that does not fit."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Strict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

T = TypeVar("T")

Items = Annotated[tuple[T, ...], Strict(False)]
"""A tuple, also from a list, which is what YAML and JSON have; its items are not converted."""


class StrictModel(BaseModel):
    """A frozen record: no unknown key, no conversion between types, no NaN or infinity."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _report_unknown_keys(cls, data: Any) -> Any:
        """Before any missing key, which is often the same mistake."""
        if isinstance(data, dict) and cls.model_config["extra"] == "forbid":
            keys = [field.alias or name for name, field in cls.model_fields.items()]
            for key in data:
                if key not in keys and key not in cls.model_fields:
                    raise invalid(str(key), f"is not a known key.{nearest(key, keys)}")
        return data

    def replace(self, **changes: Any) -> Self:
        """A copy with other values, validated like any record (model_copy validates nothing)."""
        return type(self)(**{**dict(self), **changes})


def invalid(key: str, complaint: str) -> PydanticCustomError:
    """The error for a validator to raise where a rule is broken.

    Args:
        key: dotted, below the value that is being validated; "" for this value itself.
        complaint: what is wrong with it and what to do: the rest of a sentence, with its full stop.
    """
    return PydanticCustomError("rule", "{complaint}", {"key": key, "complaint": complaint})


def nearest(name: Any, names: Iterable[str]) -> str:
    """A sentence that names the nearest of `names`, or all of them if none is near."""
    names = list(names)
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(names)}."


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100
_WORDING = {  # where pydantic speaks of Python, not of YAML or JSON
    "missing": "is missing",
    "dict_type": "must be a mapping",
    "mapping_type": "must be a mapping",
    "model_type": "must be a mapping",
    "tuple_type": "must be a list",
    "too_short": "needs at least one item",
}


def message(error: ValidationError) -> str:
    """The first mistake that was found, in one line that begins with its dotted key."""
    first = error.errors(include_url=False)[0]
    key = _dotted_key(first)
    if first["type"] == "rule":
        return f"{key} {first['msg']}"
    wording = _WORDING.get(first["type"], first["msg"].replace("Input should", "must"))
    found = "" if first["type"] == "missing" else f", not {_SHORT.repr(first['input'])}"
    return f"{key} {wording}{found}."


def _dotted_key(error: ErrorDetails) -> str:
    """As in tasks.en-de.text.train[0]; an invalid name of a mapping is a mistake of the mapping."""
    parts = [*error["loc"], *filter(None, [error.get("ctx", {}).get("key")])]
    if parts and parts[-1] == "[key]":
        parts = parts[:-2]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return key.removeprefix(".") or "the file"
