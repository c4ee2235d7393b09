"""Fits compared with numpy's and with known powers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiayn.profiling.growth import exponents, line


@given(
    constant=st.floats(0.1, 100), a=st.floats(-3, 3), b=st.floats(-3, 3)
)  # fmt: skip
def test_known_powers_are_recovered(constant: float, a: float, b: float) -> None:
    n, d = [2.0, 4.0, 8.0, 2.0, 4.0, 8.0], [3.0, 3.0, 3.0, 9.0, 27.0, 9.0]
    costs = [constant * x**a * y**b for x, y in zip(n, d, strict=True)]
    fitted = exponents({"n": n, "d": d}, costs)
    assert fitted["n"].value == pytest.approx(a, abs=1e-8)
    assert fitted["d"].value == pytest.approx(b, abs=1e-8)
    assert fitted["n"].standard_error == pytest.approx(0, abs=1e-6)


def test_a_line_and_its_errors_are_numpys() -> None:
    x, y = [1.0, 2.0, 3.0, 4.0, 7.0], [2.1, 3.9, 6.2, 7.8, 14.5]
    (slope, intercept), covariance = np.polyfit(x, y, 1, cov=True)
    fitted = line(x, y)
    assert [c.value for c in fitted] == pytest.approx([intercept, slope])
    errors = np.sqrt(np.diag(covariance))
    assert [c.standard_error for c in fitted] == pytest.approx(errors[::-1])


def test_two_points_leave_no_error_to_estimate() -> None:
    with pytest.raises(ValueError, match="too few"):
        line([1, 2], [1, 2])
