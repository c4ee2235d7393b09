"""Tests over seeds compared with published worked examples, scipy's tests, and simulation."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from aiayn.evaluation.significance import LEVEL, Difference, holm, paired, power

# Student's own data (1908): hours of sleep gained under two drugs, by patient
SLEEP = (
    (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
)


def test_the_paired_test_equals_rs() -> None:
    """t.test(extra ~ group, data = sleep, paired = TRUE), as in R's documentation."""
    found = paired([a - b for a, b in zip(*SLEEP, strict=True)])
    assert found is not None
    assert found.value / found.error == pytest.approx(-4.0621, abs=5e-5)
    assert found.degrees == 9
    assert found.p_different() == pytest.approx(0.002833, abs=5e-7)
    assert found.interval(0.05) == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)


@pytest.mark.parametrize("size", [2, 5, 12])
def test_the_paired_test_equals_scipys(size: int) -> None:
    generator = np.random.default_rng(size)
    differences = generator.normal(0.2, 0.3, size).tolist()
    found = paired(differences)
    assert found is not None
    assert found.p_different() == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    interval = stats.ttest_1samp(differences, 0).confidence_interval(0.9)
    assert found.interval(0.1) == pytest.approx((interval.low, interval.high))
    # Schuirmann's two one-sided tests
    margin = 0.5
    below = stats.ttest_1samp(differences, -margin, alternative="greater").pvalue
    above = stats.ttest_1samp(differences, margin, alternative="less").pvalue
    assert found.p_within(margin) == pytest.approx(max(below, above))
    assert found.p_beyond(margin) == pytest.approx(1 - abs(above - below))


@pytest.mark.parametrize("differences", [[], [1.0], [1.0, 1.0, 1.0]])
def test_without_a_spread_nothing_is_tested(differences: list[float]) -> None:
    assert paired(differences) is None


def test_the_power_is_that_of_the_noncentral_t() -> None:
    """34 pairs show Cohen's medium effect of 0.5 with a power of 0.8 (Cohen 1988; G*Power), 33 do
    not."""
    for count, at_least in ((33, False), (34, True)):
        found = power(-1.0, 2, count, 0.05)
        exact = stats.nct.sf(stats.t.isf(0.025, count - 1), count - 1, 0.5 * sqrt(count))
        assert found == pytest.approx(exact, abs=1e-3)
        assert (found >= 0.8) == at_least


@pytest.mark.parametrize(
    ("difference", "margin", "count"),
    [(0.4, None, 20), (0.1, 0.5, 8), (0.0, 0.5, 8), (0.9, 0.5, 8), (0.4, 0.05, 8)],
)
def test_the_power_equals_a_simulation(difference: float, margin: float | None, count: int) -> None:
    samples = np.random.default_rng(count).normal(difference, 0.3, (20_000, count))
    value, error = samples.mean(axis=1), samples.std(axis=1, ddof=1) / sqrt(count)
    beyond = stats.t.sf((np.abs(value) - (margin or 0)) / error, count - 1)
    beyond += stats.t.sf((np.abs(value) + (margin or 0)) / error, count - 1)
    decided = beyond < 0.01
    if margin is not None and difference <= margin:
        decided = stats.t.sf((margin - np.abs(value)) / error, count - 1) < 0.01
    found = power(difference, 0.3, count, 0.01, margin)
    assert found == pytest.approx(decided.mean(), abs=0.03)


def test_within_and_beyond_a_margin() -> None:
    assert Difference(0.0, 1.0, 4).p_within(0.0) == 0.5
    near, far = Difference(0.1, 0.05, 4), Difference(-0.9, 0.05, 4)
    assert near.p_within(0.3) == pytest.approx(float(stats.t.sf(4, 4)))
    assert near.p_beyond(0.3) > 0.99
    assert far.p_beyond(0.3) == pytest.approx(float(stats.t.sf(12, 4) + stats.t.sf(24, 4)))
    assert far.p_within(0.3) > 0.99


def test_holms_correction() -> None:
    """Wikipedia's example: of four p-values, 0.005 and 0.01 stay below 0.05, 0.03 and 0.04 do not."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_difference_at_the_margin_is_rarely_called_equal() -> None:
    draws, margin = 2000, 0.3
    generator = np.random.default_rng(8)
    false_calls = 0
    for differences in generator.normal(margin, 0.1, (draws, 5)).tolist():
        found = paired(differences)
        assert found is not None
        false_calls += found.p_within(margin) < LEVEL
    assert abs(false_calls / draws - LEVEL) <= 3 * sqrt(LEVEL * (1 - LEVEL) / draws)


@pytest.mark.parametrize("spread", [0.1, 5.0])
def test_a_difference_at_the_margin_is_rarely_called_larger(spread: float) -> None:
    """Also where the noise is much larger than the margin, so that either direction is likely."""
    draws, margin = 2000, 0.3
    false_calls = 0
    for differences in np.random.default_rng(9).normal(margin, spread, (draws, 5)).tolist():
        found = paired(differences)
        assert found is not None
        false_calls += found.p_beyond(margin) < LEVEL
    assert abs(false_calls / draws - LEVEL) <= 3 * sqrt(LEVEL * (1 - LEVEL) / draws)
