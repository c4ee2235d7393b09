"""Group-sequential tests: p-values at several interim looks while seeds are added, by O'Brien and
Fleming's design.

The numbers of seeds at the looks are declared in advance. Under the null hypothesis, the test
statistics are those of a Brownian motion B at t = seeds / seeds of the last look: z = B(t) /
sqrt(t). A difference is significant at a look if |B| exceeds a bound that is the same for all
looks. An early look thus needs much stronger evidence than the last one, which loses little power.

Source: O'Brien and Fleming 1979; Armitage, McPherson and Rowe 1969 (the recursion); Jennison and
Turnbull 2000, chapters 2 and 4.4 (Student's t by way of its p-value).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

# Gauss-Legendre quadrature on [-1, 1]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(128)


def reached(looks: Sequence[int], seeds: int) -> int | None:
    """The number of seeds at the latest look with at most `seeds`; without looks, all `seeds`. None
    before the first look."""
    return max((look for look in looks if look <= seeds), default=None) if looks else seeds


def overall(p_value: float, looks: Sequence[int], seeds: int) -> float:
    """A two-sided p-value corrected for the looks.

    It is the probability, under the null hypothesis, that any declared look would be at least as
    extreme. Without looks, or with one, it is the p-value itself.

    Args:
        looks: numbers of seeds, increasing.
        seeds: the look that the p-value is from.
    """
    if len(looks) < 2:
        return p_value
    times = tuple(look / looks[-1] for look in looks)
    z = -float(ndtri(max(p_value, 1e-300) / 2))
    return crossing(times, z * sqrt(seeds / looks[-1]))


def nominal(level: float, looks: tuple[int, ...], seeds: int) -> float:
    """The two-sided level of the look at `seeds`, for an overall level `level` of all looks: the
    inverse of `overall`."""
    if len(looks) < 2:
        return level
    return 2 * float(ndtr(-_bound(level, looks) / sqrt(seeds / looks[-1])))


@lru_cache(maxsize=1024)
def _bound(level: float, looks: tuple[int, ...]) -> float:
    """The bound that |B| exceeds at one of the looks with probability `level`."""
    times = tuple(look / looks[-1] for look in looks)
    return float(brentq(lambda bound: crossing(times, bound) - level, 1e-6, 40.0, xtol=1e-12))


def crossing(times: Sequence[float], bound: float) -> float:
    """The probability that a Brownian motion B has |B| >= `bound` at any of the times.

    The density of paths that stayed within the bounds is propagated by Gauss-Legendre quadrature,
    and the probability of leaving is summed over the times.
    """
    if bound <= 0:
        return 1.0
    nodes, weights = NODES * bound, WEIGHTS * bound
    total = 2 * float(ndtr(-bound / sqrt(times[0])))
    density = _normal(nodes, sqrt(times[0]))
    for before, now in pairwise(times):
        step = sqrt(now - before)
        leaving = ndtr((nodes - bound) / step) + ndtr((-nodes - bound) / step)
        total += float(np.sum(weights * density * leaving))
        density = _normal(nodes[:, None] - nodes[None, :], step) @ (weights * density)
    return min(1.0, total)


def _normal(x: np.ndarray, deviation: float) -> np.ndarray:
    return np.exp(-0.5 * (x / deviation) ** 2) / (deviation * sqrt(2 * np.pi))
