"""Shared by the engines' writers: limits, and the beam search of other engines."""

from __future__ import annotations

from dataclasses import dataclass

POSITIONS = 1024  # maximum input and output length of an exported model, in pieces
NEVER = -1e9  # added to the logits of padding and of the start symbol, which are never output
BATCH = 32  # sentences per batch


@dataclass(frozen=True)
class EngineSearch:
    """Beam search with `beam` hypotheses of at most `longest` pieces, scored by log-probability /
    length^alpha; the paper, like Wu et al. 2016, divides by ((5 + length) / 6)^alpha."""

    beam: int
    alpha: float
    longest: int


def engine_alpha(alpha: float, pieces: float) -> float:
    """The exponent of length^alpha that best approximates the paper's penalty with `alpha` for
    outputs of `pieces` pieces, including the end symbol: there, the logarithms of both penalties
    have the same slope, alpha / (5 + length).
    """
    return alpha * pieces / (5 + pieces)
