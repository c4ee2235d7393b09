"""Equation 3, and the peak rates that follow from it."""

from __future__ import annotations

import pytest

from aiayn.training.schedule import learning_rate


@pytest.mark.parametrize(("d_model", "peak"), [(256, 9.88e-4), (512, 6.99e-4), (1024, 4.94e-4)])
def test_peak_at_the_end_of_warm_up(d_model: int, peak: float) -> None:
    """d_model^-0.5 4000^-0.5, to three digits."""
    rates = [learning_rate(step, d_model, 4000) for step in range(1, 12_000)]
    assert max(range(len(rates)), key=rates.__getitem__) == 4000 - 1
    assert rates[3999] == pytest.approx(peak, rel=1e-3)


def test_linear_then_inverse_square_root() -> None:
    assert learning_rate(2000, 512, 4000) == pytest.approx(learning_rate(4000, 512, 4000) / 2)
    assert learning_rate(16_000, 512, 4000) == pytest.approx(learning_rate(4000, 512, 4000) / 2)
    assert learning_rate(7, 512, 4000, 2.0) == pytest.approx(2 * learning_rate(7, 512, 4000))
