"""Scaling fits: exponents in log-log space and straight lines, with standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aiayn.results.profiles import Fitted

DECIMALS = 6  # in files: the last bits differ between linear algebra libraries


@dataclass(frozen=True)
class Coefficient:
    """A fitted coefficient and its standard error."""

    value: float
    standard_error: float

    def as_written(self) -> Fitted:
        """Rounded, without a negative zero."""
        return Fitted(
            value=round(self.value, DECIMALS) + 0.0,
            standard_error=round(self.standard_error, DECIMALS) + 0.0,
        )


def exponents(
    sizes: Mapping[str, Sequence[float]], costs: Sequence[float]
) -> dict[str, Coefficient]:
    """The exponents e of cost = c * size^e * ..., one for each size, fitted jointly.

    Args:
        sizes: by name, the values at each measurement.
        costs: the cost at each measurement, above 0.
    Raises:
        ValueError: too few measurements for a fit with standard errors.
    """
    logarithms = {name: np.log(values) for name, values in sizes.items()}
    fitted = _least_squares(list(logarithms.values()), np.log(costs))
    return dict(zip(sizes, fitted[1:], strict=True))


def line(x: Sequence[float], y: Sequence[float]) -> tuple[Coefficient, Coefficient]:
    """Intercept and slope of y = a + b x."""
    intercept, slope = _least_squares([np.asarray(x, dtype=float)], np.asarray(y, dtype=float))
    return intercept, slope


def _least_squares(columns: Sequence[np.ndarray], y: np.ndarray) -> list[Coefficient]:
    """Ordinary least squares with an intercept first; errors from the residuals' variance."""
    design = np.column_stack([np.ones(len(y)), *columns])
    freedom = len(y) - design.shape[1]
    if freedom < 1:
        raise ValueError(f"{len(y)} measurements are too few to fit {design.shape[1]} coefficients")
    values, *_ = np.linalg.lstsq(design, y, rcond=None)
    variance = float(((y - design @ values) ** 2).sum()) / freedom
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    return [Coefficient(float(v), float(e)) for v, e in zip(values, errors, strict=True)]
