"""What the paper says of its variations and of its decoding, as statements that trained models can
test.

Each names what it compares, rows of table 3 or decoding modes: the sum of weight x measure over
them is the effect, which the paper claims to be higher than 0, lower, or equal to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from aiayn.paper.claims import Direction

Measure = Literal["bleu", "perplexity"]
BLEU: Measure = "bleu"
PERPLEXITY: Measure = "perplexity"


@dataclass(frozen=True)
class Statement:
    """`text` says it in our words, `section` where the paper does; `rows` go by weight.

    `over` says what these are: models, by row of table 3; or modes of decoding one and the same
    model (named as in results.paths). Section 6.1 uses these without a figure for what they gain.
    """

    text: str
    section: str
    measure: Measure
    claim: Direction
    rows: Mapping[str, float]
    over: Literal["models", "modes"] = "models"


def _less(row: str, other: str) -> dict[str, float]:
    return {row: 1.0, other: -1.0}


STATEMENTS: Mapping[str, Statement] = {
    "one_head": Statement(
        "A single head is worse than eight", "6.2, rows A", BLEU, "lower", _less("A_h1", "base")
    ),
    "many_heads": Statement(
        "Quality drops with too many heads: 32", "6.2, rows A", BLEU, "lower",
        _less("A_h32", "base"),
    ),
    "key_width": Statement(
        "A smaller d_k hurts: mean of both rows", "6.2, rows B", BLEU, "lower",
        {"B_dk16": 0.5, "B_dk32": 0.5, "base": -1.0},
    ),
    "layers": Statement(
        "Bigger is better: 8 layers beside 2", "6.2, rows C", BLEU, "higher",
        _less("C_N8", "C_N2"),
    ),
    "width": Statement(
        "Bigger is better: the widest d_model beside the narrowest", "6.2, rows C", BLEU, "higher",
        _less("C_d1024", "C_d256"),
    ),
    "inner_width": Statement(
        "Bigger is better: the widest d_ff beside the narrowest", "6.2, rows C", BLEU, "higher",
        _less("C_ff4096", "C_ff1024"),
    ),
    "dropout": Statement(
        "Dropout helps against over-fitting", "6.2, rows D", BLEU, "higher",
        _less("base", "D_drop00"),
    ),
    "smoothing_perplexity": Statement(
        "Label smoothing hurts perplexity", "5.4, rows D", PERPLEXITY, "higher",
        _less("base", "D_smooth00"),
    ),
    "smoothing_bleu": Statement(
        "Label smoothing improves BLEU", "5.4, rows D", BLEU, "higher", _less("base", "D_smooth00")
    ),
    "positions_bleu": Statement(
        "Learned positions and sinusoids do nearly the same: BLEU", "6.2, row E", BLEU, "equal",
        _less("E_learned", "base"),
    ),
    "positions_perplexity": Statement(
        "Learned positions and sinusoids do nearly the same: perplexity", "6.2, row E", PERPLEXITY,
        "equal", _less("E_learned", "base"),
    ),
    "big": Statement(
        "The big model is better than the base", "table 3, big", BLEU, "higher",
        _less("big", "base"),
    ),
    "averaging": Statement(
        "The mean of the last checkpoints is better than the last one", "6.1", BLEU, "higher",
        _less("averaged", "last"), "modes",
    ),
    "search": Statement(
        "Beam search with a length penalty is better than greedy search", "6.1", BLEU, "higher",
        _less("averaged", "greedy"), "modes",
    ),
}  # fmt: skip


_OPPOSITE: Mapping[Direction, Direction] = {"higher": "lower", "lower": "higher", "equal": "equal"}


def statements(measures: Mapping[str, Measure] | None = None) -> Mapping[str, Statement]:
    """All statements; or those of `measures`, each by its measure: what is said of BLEU is said of
    perplexity in the opposite direction."""
    if measures is None:
        return STATEMENTS
    chosen = {}
    for key, measure in measures.items():
        statement = STATEMENTS[key]
        if measure != statement.measure:
            statement = replace(statement, measure=measure, claim=_OPPOSITE[statement.claim])
        chosen[key] = statement
    return chosen
