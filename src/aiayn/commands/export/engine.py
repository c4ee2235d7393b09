"""What the writers of both engines share: limits, and beam search as engines do it."""

from __future__ import annotations

from dataclasses import dataclass

POSITIONS = 1024  # the longest input and output of an exported model, in pieces
NEVER = -1e9  # added to the logits of padding and start symbol, which are never an output
BATCH = 32  # sentences at a time


@dataclass(frozen=True)
class EngineSearch:
    """Beam search with `beam` hypotheses of at most `longest` pieces, scored by log-probability
    / length^alpha; Wu et al. 2016, and so the paper, divide by ((5 + length) / 6)^alpha."""

    beam: int
    alpha: float
    longest: int


def engine_alpha(alpha: float, pieces: float) -> float:
    """The exponent of length^alpha that is closest to the paper's penalty with `alpha` for outputs
    of so many pieces, end symbol included: the logarithms of both penalties have the same slope
    there, alpha / (5 + length).
    """
    return alpha * pieces / (5 + pieces)
