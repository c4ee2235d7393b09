"""The paper's requirement on a parameter, with its source."""

from __future__ import annotations

from dataclasses import dataclass

from aiayn.paper.printed import Printed

EXACT = 1e-9  # relative tolerance, for the rounding of decimal text


@dataclass(frozen=True)
class Requirement:
    """A parameter as the paper states it, and the section.

    A number has `low` and `high`, which are equal unless the paper rounds it.
    """

    text: str
    source: str
    low: float | None = None
    high: float | None = None

    def admits(self, value: object) -> bool:
        """Whether our value satisfies the requirement."""
        if self.low is None or self.high is None:
            return value == self.text
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low * (1 - EXACT) <= value <= self.high * (1 + EXACT)


def exactly(text: str, source: str) -> Requirement:
    """An exact number, or a word."""
    try:
        value = Printed(text).value
    except ValueError:
        return Requirement(text, source)
    return Requirement(text, source, value, value)


def about(text: str, source: str, *, low: float, high: float) -> Requirement:
    """A rounded number: any value from `low` to `high` would be printed as `text`."""
    return Requirement(text, source, low, high)
