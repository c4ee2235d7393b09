"""What a difference between models is worth when each was trained from a few seeds only.

Runs of one seed share their batches and their initial weights, so models are compared seed by seed:
a difference is the mean over seeds, with its standard error and degrees of freedom, and Student's t
says how likely it is by chance. Differences over seeds are taken to be normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, variance

from scipy.special import stdtr, stdtrit

LEVEL = 0.05


@dataclass(frozen=True)
class Difference:
    """An estimate of a difference, its standard error and the error's degrees of freedom."""

    value: float
    error: float
    degrees: float

    def interval(self, level: float) -> tuple[float, float]:
        """The confidence interval whose complement has the probability `level`."""
        half = float(stdtrit(self.degrees, 1 - level / 2)) * self.error
        return self.value - half, self.value + half

    def p_different(self) -> float:
        """Two-sided: how likely an estimate this far from 0 is where there is no difference."""
        return 2 * self._upper(abs(self.value))

    def p_within(self, margin: float) -> float:
        """Two one-sided tests (Schuirmann 1987): how likely an estimate this far inside +-`margin`
        is where the difference is as large as the margin."""
        return self._upper(margin - abs(self.value))

    def p_beyond(self, margin: float) -> float:
        """One-sided: how likely an estimate this far outside +-`margin` is where the difference is
        no larger than the margin."""
        return self._upper(abs(self.value) - margin)

    def _upper(self, distance: float) -> float:
        """How likely t exceeds `distance`."""
        return float(stdtr(self.degrees, -distance / self.error))


def paired(differences: Sequence[float]) -> Difference | None:
    """The mean of differences within pairs; None of fewer than two, or where all are the same."""
    if len(differences) < 2 or not (spread := variance(differences)):
        return None
    return Difference(
        mean(differences), sqrt(spread / len(differences)), float(len(differences) - 1)
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p-value corrected for the number of tests (Holm 1979).

    To call significant what is below LEVEL keeps the chance of even one false call among all the
    tests below LEVEL, however the tests depend on each other.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected
