"""What a difference between models is worth when each was trained from a few seeds only.

The noise that counts is the seed's: the same model trained again from another seed scores
differently on the same sentences, often by more than a choice of other sentences would explain. A
difference is therefore a contrast of means over seeds with its standard error and degrees of
freedom, and what is said of it comes from Student's t. Scores over seeds are taken to be normal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
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

    def interval(self) -> tuple[float, float]:
        """The 1 - LEVEL confidence interval, without correction for other tests."""
        half = float(stdtrit(self.degrees, 1 - LEVEL / 2)) * self.error
        return self.value - half, self.value + half

    def p_different(self) -> float:
        """Two-sided: how likely an estimate so far from 0 is where there is no difference."""
        return 2 * self._upper(abs(self.value))

    def p_within(self, margin: float) -> float:
        """Two one-sided tests (Schuirmann 1987): how likely an estimate so far inside +-`margin`
        is where the difference is as large as the margin."""
        return self._upper(margin - abs(self.value))

    def p_beyond(self, margin: float) -> float:
        """Two-sided: how likely an estimate so far outside +-`margin` is where the difference is
        no larger than the margin."""
        return min(1.0, 2 * self._upper(abs(self.value) - margin))

    def _upper(self, distance: float) -> float:
        """How likely t exceeds `distance`."""
        return float(stdtr(self.degrees, -distance / self.error))


def contrast(
    weights: Mapping[str, float], samples: Mapping[str, Sequence[float]], spread: str
) -> Difference | None:
    """The sum of weight x mean over models, whose weights add up to 0; -1 and 1 are a difference.

    A model of several seeds brings its own variance (Welch 1947). A model of one seed is one more
    draw from a distribution as wide as that of the model `spread`; against this model itself, that
    is the prediction interval: t = (x - mean) / (s sqrt(1 + 1/n)) with n - 1 degrees of freedom.
    Degrees of freedom of several variances are Satterthwaite's (1946).

    Args:
        weights: by model.
        samples: a measure over the seeds, by model; of `spread` too, whether it is weighed or not.
    Returns:
        None where nothing can be said: `spread` has one seed alone, or no model varies at all.
    """
    if len(samples[spread]) < 2:
        return None
    factors: dict[str, float] = defaultdict(float)  # of each model's variance in that of the sum
    for model, weight in weights.items():
        count = len(samples[model])
        factors[model if count > 1 else spread] += weight**2 / count
    parts = {model: factor * variance(samples[model]) for model, factor in factors.items()}
    total = sum(parts.values())
    if not total:
        return None
    return Difference(
        value=sum(weight * mean(samples[model]) for model, weight in weights.items()),
        error=sqrt(total),
        degrees=total**2
        / sum(part**2 / (len(samples[model]) - 1) for model, part in parts.items()),
    )


def paired(differences: Sequence[float]) -> Difference | None:
    """The mean of differences of what is alike but for what is compared; None of fewer than two, or
    where all are the same."""
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
