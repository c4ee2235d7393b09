"""Significance of differences between models that were trained from a few seeds.

Runs with the same seed share their batches and initial weights, so models are compared by paired t
tests over seeds. Differences are assumed to be normally distributed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, variance

from scipy.optimize import brentq
from scipy.special import ndtr, stdtr, stdtrit

LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """An estimated difference, its standard error and degrees of freedom."""

    value: float
    error: float
    degrees: float

    def interval(self, level: float, margin: float | None = None) -> tuple[float, float]:
        """The confidence interval with confidence 1 - `level`. If the difference is beyond
        +-`margin`, it is wider: it then excludes the margin exactly if `p_beyond` is below half the
        level."""
        if margin is not None and abs(self.value) > margin:
            half = _critical_beyond(2 * margin / self.error, self.degrees, level / 2) * self.error
        else:
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
        """The p-value for the null hypothesis of a difference of at most +-`margin`, with both
        tails: the alternative is a larger difference in either direction."""
        return self._upper(abs(self.value) - margin) + self._upper(abs(self.value) + margin)

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
        level: of the test; of equivalence: of each of its one-sided tests.
        margin: of a test of equivalence; of its opposite where the difference is beyond the margin.
    """
    degrees, error, size = count - 1, deviation / sqrt(count), abs(difference)
    if margin is None:
        critical = float(stdtrit(degrees, 1 - level / 2))
    elif size <= margin:
        critical = float(stdtrit(degrees, 1 - level))
    else:
        critical = _critical_beyond(2 * margin / error, degrees, level)

    def above(distance: float) -> float:
        """The upper tail probability of the noncentral t (Abramowitz and Stegun 26.7.10)."""
        quantile = critical * (1 - 1 / (4 * degrees)) - distance / error
        return float(ndtr(-quantile / sqrt(1 + critical**2 / (2 * degrees))))

    if margin is None:
        return above(size)
    if size > margin:
        return above(size - margin)
    return max(0.0, above(margin - size) + above(margin + size) - 1)


def _critical_beyond(gap: float, degrees: float, level: float) -> float:
    """The distance from the margin, in standard errors, at which `p_beyond` is `level`; the other
    end of the margin is `gap` further away."""

    def excess(distance: float) -> float:
        return float(stdtr(degrees, -distance) + stdtr(degrees, -distance - gap)) - level

    one_sided, two_sided = (float(stdtrit(degrees, 1 - part)) for part in (level, level / 2))
    return float(brentq(excess, one_sided - 1, two_sided + 1))


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
