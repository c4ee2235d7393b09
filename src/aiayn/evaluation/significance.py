"""Significance of differences between models that were trained from a few seeds.

Runs with the same seed share their batches and initial weights, so models are compared by paired t
tests over seeds. Differences are assumed to be normally distributed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, variance

from scipy.special import ndtr, stdtr, stdtrit

LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """An estimated difference, its standard error and degrees of freedom."""

    value: float
    error: float
    degrees: float

    def interval(self, level: float) -> tuple[float, float]:
        """The confidence interval with confidence 1 - `level`."""
        half = float(stdtrit(self.degrees, 1 - level / 2)) * self.error
        return self.value - half, self.value + half

    def p_different(self) -> float:
        """The two-sided p-value for the null hypothesis of no difference."""
        return 2 * self._upper(abs(self.value))

    def p_within(self, margin: float) -> float:
        """The p-value of equivalence within +-`margin`, by two one-sided tests (Schuirmann 1987);
        the null hypothesis is a difference of at least the margin."""
        return self._upper(margin - abs(self.value))

    def p_beyond(self, margin: float) -> float:
        """The one-sided p-value for the null hypothesis of a difference of at most `margin`."""
        return self._upper(abs(self.value) - margin)

    def _upper(self, distance: float) -> float:
        """The upper tail probability of Student's t."""
        return float(stdtr(self.degrees, -distance / self.error))


def paired(differences: Sequence[float]) -> Difference | None:
    """The mean of paired differences; None if there are fewer than two, or if all are equal."""
    if len(differences) < 2 or not (spread := variance(differences)):
        return None
    return Difference(
        mean(differences), sqrt(spread / len(differences)), float(len(differences) - 1)
    )


def power(
    difference: float, deviation: float, count: int, level: float, margin: float | None = None
) -> float:
    """The probability, approximately, that a paired test of `count` values is significant.

    Args:
        difference, deviation: the true mean and standard deviation of the paired differences.
        level: of the two-sided test; with a `margin`, of each one-sided test.
        margin: of a test of equivalence; of its opposite where the difference is beyond the margin.
    """
    degrees, error = count - 1, deviation / sqrt(count)
    critical = float(stdtrit(degrees, 1 - (level / 2 if margin is None else level)))

    def above(distance: float) -> float:
        """The upper tail probability of the noncentral t (Abramowitz and Stegun 26.7.10)."""
        quantile = critical * (1 - 1 / (4 * degrees)) - distance / error
        return float(ndtr(-quantile / sqrt(1 + critical**2 / (2 * degrees))))

    size = abs(difference)
    if margin is None:
        return above(size)
    if size > margin:
        return above(size - margin)
    return max(0.0, above(margin - size) + above(margin + size) - 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p-value corrected for the number of tests (Holm 1979), which controls the family-wise
    error rate under any dependence between the tests.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected
