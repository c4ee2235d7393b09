"""Table 3's claims about a row relative to the base, and the margins that a difference must exceed.

Each of the paper's rows is one training, without a standard deviation. Late checkpoints of the same
training differ by about 0.3 BLEU (as NVIDIA's DeepLearningExamples report), so a printed difference
counts as a direction only beyond 0.3: the smallest that the paper's text mentions is 0.4 (rows A
with 32 heads, rows B with d_k 32). Over rows A to C, the paper's BLEU falls by 9.5 per unit of log
perplexity (least squares through the base), so 0.3 BLEU correspond to 3 % of perplexity
(docs/decisions/significance.md).
"""

from __future__ import annotations

import math
from typing import Literal

from aiayn.paper.table_3 import ROWS

Direction = Literal["higher", "lower", "equal"]

# "nearly identical results" (section 6.2): a claim of equality, tested for equivalence
EQUAL = frozenset({"E_learned"})
# differences between late checkpoints of one training; also the margins of equivalence
MARGIN_BLEU = 0.3
MARGIN_LOG_PERPLEXITY = 0.03
MARGINS = {"bleu": MARGIN_BLEU, "perplexity": MARGIN_LOG_PERPLEXITY}


def bleu_claim(row: str) -> Direction | None:
    """The paper's claim about a row's BLEU relative to the base; None without a clear direction."""
    return _claim(row, ROWS[row].bleu.value - ROWS["base"].bleu.value, MARGIN_BLEU)


def perplexity_claim(row: str) -> Direction | None:
    """The same for perplexity."""
    ratio = ROWS[row].perplexity.value / ROWS["base"].perplexity.value
    return _claim(row, math.log(ratio), MARGIN_LOG_PERPLEXITY)


def _claim(row: str, difference: float, margin: float) -> Direction | None:
    if row in EQUAL:
        return "equal"
    if abs(difference) <= margin + 1e-9:  # in floating point, 25.8 - 25.5 > 0.3
        return None
    return "higher" if difference > 0 else "lower"


def agreement(claim: str | None, outcome: str) -> str:
    """Whether our result for a row agrees with the paper's, as text.

    Args:
        claim: the paper's direction, or None.
        outcome: our direction, or "undecided"; see results.comparison.
    """
    if outcome == "undecided" or claim is None:
        return outcome
    return "as in the paper" if outcome == claim else "against the paper"
