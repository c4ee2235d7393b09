"""What table 3 says of a row relative to the base, and which differences are large enough to count.

Each of the paper's rows is one training, and it gives no spread. Two good checkpoints of one
training differ by about 0.3 BLEU (NVIDIA's DeepLearningExamples report that near the plateau), so a
printed difference counts as a direction only beyond 0.3: the smallest that the paper's text calls
one is 0.4 (rows A with 32 heads, rows B with d_k 32). Over rows A to C, the paper's BLEU falls by
9.5 for each unit by which the logarithm of perplexity rises (least squares through the base), so
0.3 BLEU correspond to 3 % of perplexity (docs/decisions/significance.md).
"""

from __future__ import annotations

import math
from typing import Literal

from aiayn.paper.table_3 import ROWS

Direction = Literal["higher", "lower", "equal"]

# "nearly identical results" (section 6.2): a claim of equality, to be tested as one
EQUAL = frozenset({"E_learned"})
# by which late checkpoints of one training differ: BLEU, and the logarithm of perplexity; also how
# near "equal" is
MARGIN_BLEU = 0.3
MARGIN_LOG_PERPLEXITY = 0.03
MARGINS = {"bleu": MARGIN_BLEU, "perplexity": MARGIN_LOG_PERPLEXITY}


def bleu_claim(row: str) -> Direction | None:
    """How the row's BLEU compares with the base's in the paper; None where it is no direction."""
    return _claim(row, ROWS[row].bleu.value - ROWS["base"].bleu.value, MARGIN_BLEU)


def perplexity_claim(row: str) -> Direction | None:
    """The same of perplexity."""
    ratio = ROWS[row].perplexity.value / ROWS["base"].perplexity.value
    return _claim(row, math.log(ratio), MARGIN_LOG_PERPLEXITY)


def _claim(row: str, difference: float, margin: float) -> Direction | None:
    if row in EQUAL:
        return "equal"
    if abs(difference) <= margin + 1e-9:  # 25.8 - 25.5 is a little more than 0.3 to a computer
        return None
    return "higher" if difference > 0 else "lower"


def agreement(claim: str | None, outcome: str) -> str:
    """Whether a row of ours agrees with the paper's, in words.

    Args:
        claim: the paper's direction, None where it has none.
        outcome: ours, "undecided" where it is within the noise; see results.comparison.
    """
    if outcome == "undecided" or claim is None:
        return outcome
    return "as in the paper" if outcome == claim else "against the paper"
