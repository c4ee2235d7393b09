"""Accuracy: the share of outputs that equal the expected ones exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aiayn.errors import ScoreError
from aiayn.evaluation.metric import Metric
from aiayn.results.scores import Score

SIGNATURE = "compared:whole line|interval:Clopper-Pearson|version:1"
LEVEL = 0.05


@dataclass(frozen=True)
class Copies:
    """A run's outputs and the sequences that it should have copied."""

    outputs: Sequence[str]
    expected: Sequence[str]


def accuracy(outputs: Sequence[str], expected: Sequence[str]) -> Score:
    """The share of outputs that equal the expected ones, with its exact 95% interval.

    Raises:
        ScoreError: there are no outputs, or their number differs from the expected.
    Source: Clopper and Pearson 1934. A bootstrap interval would have zero width if all outputs are
        right.
    """
    if not expected or len(outputs) != len(expected):
        raise ScoreError(f"{len(outputs)} outputs cannot be scored against {len(expected)} lines.")
    right = sum(output == other for output, other in zip(outputs, expected, strict=True))
    low, high = interval(right, len(expected))
    return Score(
        value=100 * right / len(expected), signature=SIGNATURE, low=100 * low, high=100 * high
    )


COPYING_METRICS: tuple[Metric[Copies], ...] = (
    Metric(
        name="accuracy",
        label="Copied, %",
        score=lambda copies: accuracy(copies.outputs, copies.expected),
        headline=True,
    ),
)


def interval(successes: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's exact 95% interval of a proportion, from 0 to 1."""
    from scipy.special import betaincinv  # slow to import; other metrics do not need it

    failures = trials - successes
    low = betaincinv(successes, failures + 1, LEVEL / 2) if successes else 0.0
    high = betaincinv(successes + 1, failures, 1 - LEVEL / 2) if failures else 1.0
    return float(low), float(high)
