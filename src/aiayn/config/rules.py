"""What rules about parameters say when one is broken: the dotted key, and the nearest name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from aiayn.errors import ConfigError
from aiayn.typed import nearest

# what may become a part of a path, of a stage's name and of a shell's command as it stands
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def require(holds: bool, key: str, complaint: str) -> None:
    """Raises ConfigError, `key` and complaint, unless it holds."""
    if not holds:
        raise ConfigError(f"{key} {complaint}.")


def positive(key: str, value: float | None) -> None:
    """Raises ConfigError unless the value is absent or above 0."""
    require(value is None or value > 0, key, f"is {value}; it must be above 0")


def below_one(key: str, value: float) -> None:
    """Raises ConfigError unless the value is at least 0 and below 1."""
    require(0 <= value < 1, key, "must be at least 0 and below 1")


def known(name: str, names: Iterable[str], key: str, noun: str) -> None:
    """Raises ConfigError, with the nearest name, unless `name` is one of `names`."""
    if name not in names:
        raise ConfigError(
            f"{key} names the {noun} {name!r}, which does not exist.{nearest(name, names)}"
        )


def named(name: str, key: str) -> None:
    """Raises ConfigError unless `name`, given at or below `key`, may stand in a path or command."""
    require(
        NAME.fullmatch(name) is not None,
        key,
        f"has {name!r} for a name. Use letters, digits, '_', '-' and '.', at most 100, "
        "with a letter or a digit first",
    )
