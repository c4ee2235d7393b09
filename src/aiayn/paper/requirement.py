"""What a parameter must be for a run to be the paper's, and where the paper says so."""

from __future__ import annotations

from dataclasses import dataclass

from aiayn.paper.printed import Printed

EXACT = 1e-9  # relative: the rounding of a parameter that is written as text


@dataclass(frozen=True)
class Requirement:
    """A parameter as the paper states it, with the place.

    A number has `low` and `high`, which are equal unless the paper rounds it.
    """

    text: str
    source: str
    low: float | None = None
    high: float | None = None

    def admits(self, value: object) -> bool:
        """Whether a parameter of ours is what the paper states."""
        if self.low is None or self.high is None:
            return value == self.text
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low * (1 - EXACT) <= value <= self.high * (1 + EXACT)


def exactly(text: str, source: str) -> Requirement:
    """A number without tolerance, or a word."""
    try:
        value = Printed(text).value
    except ValueError:
        return Requirement(text, source)
    return Requirement(text, source, value, value)


def about(text: str, source: str, *, low: float, high: float) -> Requirement:
    """A number that the paper rounds: anything from `low` to `high` reads like `text`."""
    return Requirement(text, source, low, high)
