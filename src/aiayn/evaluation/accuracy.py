"""How many outputs are exactly the wanted ones."""

from __future__ import annotations

from collections.abc import Sequence

from aiayn.errors import ScoreError
from aiayn.results.scores import Score

SIGNATURE = "compared:whole line|interval:Clopper-Pearson|version:1"
LEVEL = 0.05


def accuracy(outputs: Sequence[str], wanted: Sequence[str]) -> Score:
    """The share of outputs that equal what was wanted, with its exact 95 % interval.

    Raises:
        ScoreError: there is none, or not as many of one as of the other.
    Source: Clopper and Pearson 1934. Not a bootstrap, which leaves no width where all are right.
    """
    if not wanted or len(outputs) != len(wanted):
        raise ScoreError(f"{len(outputs)} outputs cannot be held against {len(wanted)} wanted.")
    right = sum(output == other for output, other in zip(outputs, wanted, strict=True))
    low, high = interval(right, len(wanted))
    return Score(
        value=100 * right / len(wanted), signature=SIGNATURE, low=100 * low, high=100 * high
    )


def interval(successes: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's exact 95 % interval of a share, 0 to 1."""
    from scipy.special import betaincinv  # takes a moment, which other scores need not pay

    failures = trials - successes
    low = betaincinv(successes, failures + 1, LEVEL / 2) if successes else 0.0
    high = betaincinv(successes + 1, failures, 1 - LEVEL / 2) if failures else 1.0
    return float(low), float(high)
