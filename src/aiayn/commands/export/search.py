"""Beam search as other engines do it: a hypothesis' score is its log-probability by length^alpha,
where Wu et al. 2016, and so the paper, divide by ((5 + length) / 6)^alpha.
"""

from __future__ import annotations

from dataclasses import dataclass

POSITIONS = 1024  # the longest input and output of an exported model, in pieces
NO_OUTPUT = -1e9  # what an engine adds to the logits of padding and start symbol
PATIENCE = 2  # CTranslate2's: beams of ended hypotheses, after which it stops; one is too hasty


@dataclass(frozen=True)
class EngineSearch:
    """`beam` hypotheses, the engine's own exponent `alpha`, outputs of at most `longest` pieces."""

    beam: int
    alpha: float
    longest: int


def engine_alpha(alpha: float, pieces: float) -> float:
    """The exponent by which length^alpha weighs a little more length as the paper's penalty does,
    for outputs around so many pieces (the end symbol among them): both penalties' logarithms have
    the same slope there, alpha / (5 + length).
    """
    return alpha * pieces / (5 + pieces)
