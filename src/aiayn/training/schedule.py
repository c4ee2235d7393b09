"""The learning-rate schedule (section 5.3)."""

from __future__ import annotations


def learning_rate(step: int, d_model: int, warmup_steps: int, scale: float = 1.0) -> float:
    """scale * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).

    Args:
        step: counted from 1.
    Paper: section 5.3, equation 3 (where scale is 1).
    """
    rate: float = scale * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
    return rate
