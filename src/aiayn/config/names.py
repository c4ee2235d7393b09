"""Names of tasks, models, runs and so on, and references to them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

from aiayn.validation import invalid, nearest

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
