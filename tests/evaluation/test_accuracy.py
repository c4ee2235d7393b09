"""Accuracy, and its interval compared with scipy's."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from aiayn.errors import ScoreError
from aiayn.evaluation.accuracy import accuracy, interval


def test_a_right_output_equals_the_expected_one_exactly() -> None:
    score = accuracy(["a b", "a  b", "", "c"], ["a b", "a b", "", "C"])
    assert score.value == 50.0


@pytest.mark.parametrize(("right", "of"), [(0, 7), (7, 7), (1, 20), (13, 20), (997, 1000)])
def test_the_interval_is_scipys(right: int, of: int) -> None:
    theirs = binomtest(right, of).proportion_ci(confidence_level=0.95, method="exact")
    assert interval(right, of) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_a_perfect_accuracy_has_an_interval() -> None:
    """Its lower end is 0.025^(1/n): with that accuracy, n of n are right with probability 0.025."""
    score = accuracy(["x"] * 1000, ["x"] * 1000)
    assert (score.value, score.high) == (100.0, 100.0)
    assert score.low == pytest.approx(100 * 0.025 ** (1 / 1000))


@pytest.mark.parametrize(("outputs", "expected"), [([], []), (["a"], ["a", "b"])])
def test_unequal_or_no_lines_are_refused(outputs: list[str], expected: list[str]) -> None:
    with pytest.raises(ScoreError, match="outputs cannot be scored against"):
        accuracy(outputs, expected)
