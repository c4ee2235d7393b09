"""What rules about parameters say when one is broken: the dotted key, and the nearest name."""

from __future__ import annotations

from collections.abc import Iterable

from aiayn.errors import ConfigError
from aiayn.typed import nearest


def require(holds: bool, key: str, complaint: str) -> None:
    """Raises ConfigError, `key` and complaint, unless it holds."""
    if not holds:
        raise ConfigError(f"{key} {complaint}.")


def positive(key: str, value: float | None) -> None:
    """Raises ConfigError unless the value is absent or above 0."""
    require(value is None or value > 0, key, f"is {value}; it must be above 0")


def known(name: str, names: Iterable[str], key: str, noun: str) -> None:
    """Raises ConfigError, with the nearest name, unless `name` is one of `names`."""
    if name not in names:
        raise ConfigError(
            f"{key} names the {noun} {name!r}, which does not exist.{nearest(name, names)}"
        )
