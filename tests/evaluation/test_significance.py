"""Tests over seeds, beside published worked examples, scipy's own tests, and what chance does."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from aiayn.evaluation.significance import LEVEL, Difference, contrast, holm, paired

# Student's own data (1908): hours of sleep gained under two drugs, by patient
SLEEP = {
    "first": (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    "second": (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
}
MINUS = {"first": 1.0, "second": -1.0}


def test_welch_as_r_prints_it() -> None:
    """t.test(extra ~ group, data = sleep), as in R's documentation."""
    found = contrast(MINUS, SLEEP, "first")
    assert found is not None
    assert found.value / found.error == pytest.approx(-1.8608, abs=5e-5)
    assert found.degrees == pytest.approx(17.776, abs=5e-4)
    assert found.p_different() == pytest.approx(0.07939, abs=5e-6)
    assert found.interval() == pytest.approx((-3.3654832, 0.2054832), abs=5e-8)


def test_pairs_as_r_prints_them() -> None:
    """t.test(extra ~ group, data = sleep, paired = TRUE)."""
    found = paired([a - b for a, b in zip(*SLEEP.values(), strict=True)])
    assert found is not None
    assert found.value / found.error == pytest.approx(-4.0621, abs=5e-5)
    assert found.degrees == 9
    assert found.p_different() == pytest.approx(0.002833, abs=5e-7)
    assert found.interval() == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)


def test_one_more_draw_as_hahn_and_meeker_predict_it() -> None:
    """Statistical Intervals (1991): five customers, mean 50.10, s 1.31; 95 % prediction interval
    of a sixth: 50.10 +- 3.04 x 1.31, from 46.1 to 54.1."""
    five = (51.4, 49.5, 48.7, 49.3, 51.6)
    for sixth, inside in ((46.2, True), (54.0, True), (46.0, False), (54.2, False)):
        found = contrast({"row": 1, "base": -1}, {"row": (sixth,), "base": five}, "base")
        assert found is not None
        assert found.degrees == 4
        assert (found.p_different() > LEVEL) is inside
        low, high = found.interval()
        assert (high - low) / 2 == pytest.approx(3.04 * 1.31, abs=0.015)


@pytest.mark.parametrize("sizes", [(2, 2), (5, 3), (5, 12), (3, 2)])
def test_two_models_of_several_seeds_are_scipys_welch(sizes: tuple[int, int]) -> None:
    generator = np.random.default_rng(sum(sizes))
    base, row = (tuple(generator.normal(25, 2, size).tolist()) for size in sizes)
    found = contrast({"row": 1, "base": -1}, {"row": row, "base": base}, "base")
    expected = stats.ttest_ind(row, base, equal_var=False)
    assert found is not None
    assert found.p_different() == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert found.interval() == pytest.approx((interval.low, interval.high))
    # Schuirmann's two one-sided tests are Welch's of either side moved to the margin
    margin = 4.0
    below = stats.ttest_ind(np.add(row, margin), base, equal_var=False, alternative="greater")
    above = stats.ttest_ind(np.subtract(row, margin), base, equal_var=False, alternative="less")
    assert found.p_within(margin) == pytest.approx(max(below.pvalue, above.pvalue))


def test_one_seed_is_a_regression_on_a_mark_for_it() -> None:
    """The same question by least squares: does an indicator of the row explain anything?"""
    base, row = (27.4, 18.1, 24.3, 18.6, 22.0), 35.0
    found = contrast({"row": 1, "base": -1}, {"row": (row,), "base": base}, "base")
    fit = stats.linregress([0, 0, 0, 0, 0, 1], [*base, row])
    assert found is not None
    assert found.p_different() == pytest.approx(fit.pvalue)
    assert found.error == pytest.approx(fit.stderr)


def test_a_contrast_of_several_rows_of_one_seed_shares_the_bases_spread() -> None:
    """Mean of two rows less the base's: variance s^2 (1/4 + 1/4 + 1/5), 4 degrees."""
    base = (27.4, 18.1, 24.3, 18.6, 22.0)
    samples = {"thin": (20.0,), "thinner": (16.0,), "base": base}
    found = contrast({"thin": 0.5, "thinner": 0.5, "base": -1}, samples, "base")
    assert found is not None
    assert found.value == pytest.approx(18 - np.mean(base))
    assert found.error == pytest.approx(np.std(base, ddof=1) * sqrt(0.5 + 1 / 5))
    assert found.degrees == pytest.approx(4)
    # rows against each other are as far apart as two draws, though the base's mean plays no part
    apart = contrast({"thin": 1, "thinner": -1}, samples, "base")
    assert apart is not None
    assert apart.error == pytest.approx(np.std(base, ddof=1) * sqrt(2))


@pytest.mark.parametrize("base", [(25.0,), (25.0, 25.0)])
def test_without_a_spread_nothing_can_be_said(base: tuple[float, ...]) -> None:
    assert contrast({"row": 1, "base": -1}, {"row": (9.0,), "base": base}, "base") is None
    assert paired([1.0] * len(base)) is None


def test_within_and_beyond_a_margin() -> None:
    assert Difference(0.0, 1.0, 4).p_within(0.0) == 0.5
    near, far = Difference(0.1, 0.05, 4), Difference(-0.9, 0.05, 4)
    assert near.p_within(0.3) == pytest.approx(float(stats.t.sf(4, 4)))
    assert near.p_beyond(0.3) == 1
    assert far.p_beyond(0.3) == pytest.approx(2 * float(stats.t.sf(12, 4)))
    assert far.p_within(0.3) > 0.99


def test_holms_correction() -> None:
    """Wikipedia's example: of four, 0.005 and 0.01 stay below 0.05, 0.03 and 0.04 do not."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 3])
def test_families_of_rows_without_any_difference_seldom_hold_a_false_one(seeds: int) -> None:
    """18 rows that are the base over again: in at most 5 % of families one is said to differ."""
    draws, rows = 500, 18
    generator = np.random.default_rng(seeds)
    false = 0
    for _ in range(draws):
        base = tuple(generator.normal(25, 4, 5).tolist())
        p_values = []
        for row in generator.normal(25, 4, (rows, seeds)).tolist():
            found = contrast({"row": 1, "base": -1}, {"row": tuple(row), "base": base}, "base")
            assert found is not None
            p_values.append(found.p_different())
        false += min(holm(p_values)) < LEVEL
    assert false / draws <= LEVEL + 3 * sqrt(LEVEL * (1 - LEVEL) / draws)


def test_one_row_without_a_difference_is_called_different_once_in_twenty() -> None:
    """Neither a blunt test nor a sharp one: the level is met, within Monte Carlo error."""
    draws = 2000
    generator = np.random.default_rng(7)
    false = 0
    for base, row in zip(
        generator.normal(25, 4, (draws, 5)).tolist(),
        generator.normal(25, 4, (draws, 1)).tolist(),
        strict=True,
    ):
        found = contrast({"row": 1, "base": -1}, {"row": row, "base": base}, "base")
        assert found is not None
        false += found.p_different() < LEVEL
    assert abs(false / draws - LEVEL) <= 3 * sqrt(LEVEL * (1 - LEVEL) / draws)


def test_a_difference_at_the_margin_is_seldom_called_equal() -> None:
    draws, margin = 2000, 0.3
    generator = np.random.default_rng(8)
    false = 0
    for base, row in zip(
        generator.normal(25, 0.1, (draws, 5)).tolist(),
        generator.normal(25 + margin, 0.1, (draws, 3)).tolist(),
        strict=True,
    ):
        found = contrast({"row": 1, "base": -1}, {"row": row, "base": base}, "base")
        assert found is not None
        false += found.p_within(margin) < LEVEL
    assert false / draws <= LEVEL + 3 * sqrt(LEVEL * (1 - LEVEL) / draws)
