"""Other engines' length penalty compared with the paper's."""

from __future__ import annotations

import math

import pytest

from aiayn.commands.export.engine import engine_alpha
from aiayn.decoding.beam import length_penalty


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("length", [1, 14, 200])
def test_both_penalties_grow_alike_at_the_mean_length(alpha: float, length: int) -> None:
    ours = math.log(length_penalty(length + 0.01, alpha) / length_penalty(length - 0.01, alpha))
    exponent = engine_alpha(alpha, length)
    theirs = exponent * math.log((length + 0.01) / (length - 0.01))
    assert theirs == pytest.approx(ours, rel=1e-3)
