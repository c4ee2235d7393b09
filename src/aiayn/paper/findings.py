"""The paper's statements about its variations and its decoding, as testable contrasts.

Each statement compares rows of table 3 or decoding modes: its effect is their weighted sum of a
measure, which the paper claims to be higher than, lower than, or equal to 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from aiayn.errors import ConfigError
from aiayn.paper.claims import Direction
from aiayn.validation import nearest

Measure = Literal["bleu", "perplexity"]
BLEU: Measure = "bleu"
PERPLEXITY: Measure = "perplexity"


@dataclass(frozen=True)
class Statement:
    """A statement in our words (`text`), from `section` of the paper; `rows` are weights by name.

    `over` says what the names are: models, by row of table 3; or decoding modes of the same model
    (as in results.paths), which section 6.1 uses without reporting the gain.
    """

    text: str
    section: str
    measure: Measure
    claim: Direction
    rows: Mapping[str, float]
    over: Literal["models", "modes"] = "models"


def _minus(row: str, other: str) -> dict[str, float]:
    return {row: 1.0, other: -1.0}


STATEMENTS: Mapping[str, Statement] = {
    "one_head": Statement(
        "A single head is worse than eight", "6.2, rows A", BLEU, "lower", _minus("A_h1", "base")
    ),
    "many_heads": Statement(
        "Quality drops with too many heads: 32", "6.2, rows A", BLEU, "lower",
        _minus("A_h32", "base"),
    ),
    "key_width": Statement(
        "A smaller d_k hurts: mean of both rows", "6.2, rows B", BLEU, "lower",
        {"B_dk16": 0.5, "B_dk32": 0.5, "base": -1.0},
    ),
    "layers": Statement(
        "Bigger is better: 8 layers beside 2", "6.2, rows C", BLEU, "higher",
        _minus("C_N8", "C_N2"),
    ),
    "width": Statement(
        "Bigger is better: the widest d_model beside the narrowest", "6.2, rows C", BLEU, "higher",
        _minus("C_d1024", "C_d256"),
    ),
    "inner_width": Statement(
        "Bigger is better: the widest d_ff beside the narrowest", "6.2, rows C", BLEU, "higher",
        _minus("C_ff4096", "C_ff1024"),
    ),
    "dropout": Statement(
        "Dropout helps against over-fitting", "6.2, rows D", BLEU, "higher",
        _minus("base", "D_drop00"),
    ),
    "smoothing_perplexity": Statement(
        "Label smoothing hurts perplexity", "5.4, rows D", PERPLEXITY, "higher",
        _minus("base", "D_smooth00"),
    ),
    "smoothing_bleu": Statement(
        "Label smoothing improves BLEU", "5.4, rows D", BLEU, "higher", _minus("base", "D_smooth00")
    ),
    "positions_bleu": Statement(
        "Learned positions and sinusoids do nearly the same: BLEU", "6.2, row E", BLEU, "equal",
        _minus("E_learned", "base"),
    ),
    "positions_perplexity": Statement(
        "Learned positions and sinusoids do nearly the same: perplexity", "6.2, row E", PERPLEXITY,
        "equal", _minus("E_learned", "base"),
    ),
    "big": Statement(
        "The big model is better than the base", "table 3, big", BLEU, "higher",
        _minus("big", "base"),
    ),
    "averaging": Statement(
        "The mean of the last checkpoints is better than the last one", "6.1", BLEU, "higher",
        _minus("averaged", "last"), "modes",
    ),
    "search": Statement(
        "Beam search with a length penalty is better than greedy search", "6.1", BLEU, "higher",
        _minus("averaged", "greedy"), "modes",
    ),
}  # fmt: skip


_OPPOSITE: Mapping[Direction, Direction] = {"higher": "lower", "lower": "higher", "equal": "equal"}


def statements(measures: Mapping[str, Measure] | None = None) -> Mapping[str, Statement]:
    """All statements; or only those in `measures`, each for the given measure. Between BLEU and
    perplexity, the claimed direction is reversed.

    Raises:
        ConfigError: there is no such statement, or it is tested by BLEU alone.
    """
    if measures is None:
        return STATEMENTS
    chosen = {}
    for key, measure in measures.items():
        where = f"params.yaml: variations.preregistration.statements.{key}"
        if key not in STATEMENTS:
            raise ConfigError(f"{where} is not a statement.{nearest(key, STATEMENTS)}")
        statement = STATEMENTS[key]
        if statement.over == "modes" and measure != BLEU:
            raise ConfigError(f"{where}.measure is {measure}; decoding modes are compared by bleu.")
        if measure != statement.measure:
            statement = replace(statement, measure=measure, claim=_OPPOSITE[statement.claim])
        chosen[key] = statement
    return chosen
