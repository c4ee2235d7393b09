"""O'Brien and Fleming's bounds compared with published tables and a simulated random walk."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aiayn.evaluation.interim_looks import crossing, nominal, overall, reached


@pytest.mark.parametrize(
    ("looks", "level", "last"),
    [
        # Jennison and Turnbull 2000, table 2.3: C_B(K, alpha)
        (2, 0.05, 1.977), (3, 0.05, 2.004), (4, 0.05, 2.024), (5, 0.05, 2.040), (10, 0.05, 2.087),
        (2, 0.01, 2.580), (4, 0.01, 2.609), (5, 0.01, 2.621),
    ],
)  # fmt: skip
def test_bounds_are_the_published_ones(looks: int, level: float, last: float) -> None:
    seeds = tuple(range(1, looks + 1))
    for look in seeds:
        z = stats.norm.isf(nominal(level, seeds, look) / 2)
        assert z == pytest.approx(last * np.sqrt(looks / look), abs=1e-3 * np.sqrt(looks))


def test_uneven_looks_keep_the_level() -> None:
    """One in twenty independent random walks without drift crosses the bound at some look."""
    looks, walks = (4, 7, 10), 200_000
    steps = np.random.default_rng(1).standard_normal((walks, looks[-1])).cumsum(axis=1)
    crossed = np.zeros(walks, dtype=bool)
    for look in looks:
        z = steps[:, look - 1] / np.sqrt(look)
        crossed |= np.abs(z) > stats.norm.isf(nominal(0.05, looks, look) / 2)
    assert crossed.mean() == pytest.approx(0.05, abs=0.002)


@pytest.mark.parametrize("p_value", [0.6, 0.04, 1e-3, 1e-9])
@pytest.mark.parametrize("seeds", [4, 7, 10])
def test_a_look_just_decides_at_the_level_of_the_corrected_p_value(
    p_value: float, seeds: int
) -> None:
    looks = (4, 7, 10)
    corrected = overall(p_value, looks, seeds)
    assert p_value <= corrected <= 1
    assert nominal(corrected, looks, seeds) == pytest.approx(p_value, rel=1e-6)


def test_the_last_look_costs_little_and_the_first_much() -> None:
    first, last = (overall(0.01, (4, 7, 10), seeds) for seeds in (4, 10))
    assert 0.01 < last < 0.012 < 0.05 < first
    assert overall(0.01, (), 10) == overall(0.01, (10,), 10) == nominal(0.01, (10,), 10) == 0.01


def test_a_look_is_taken_at_a_declared_number_of_seeds_only() -> None:
    assert [reached((4, 7, 10), seeds) for seeds in (3, 4, 6, 7, 12)] == [None, 4, 4, 7, 10]
    assert reached((), 5) == 5


def test_a_bound_of_0_is_always_crossed() -> None:
    assert crossing((0.5, 1.0), 0.0) == 1
    assert overall(1.0, (4, 10), 4) == pytest.approx(1)
