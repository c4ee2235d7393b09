"""Table 3: variations of the architecture, English to German, on newstest2013; unaveraged (6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiayn.config import Model
from aiayn.paper.corpora import DEVELOPMENT_SET, WMT14_EN_DE
from aiayn.paper.printed import Printed, cells
from aiayn.paper.recipe import EN_DE_VOCABULARY, SEARCH, TRAINING, UNSTATED, Recipe, columns


@dataclass(frozen=True)
class VariationRow:
    """A row of table 3.

    `columns` are the printed cells that describe the model; `positions` stands for row E's text.
    """

    group: str
    columns: Mapping[str, Printed]
    perplexity: Printed
    bleu: Printed
    parameters_millions: Printed | None


ABOUT = (
    "Variations of the architecture, English to German, on newstest2013 (development). Perplexity "
    "is per word piece. Checkpoints are not averaged (section 6.2)."
)
TEST_SET = DEVELOPMENT_SET


def _row(
    group: str, columns: Mapping[str, str], perplexity: str, bleu: str, millions: str | None = None
) -> VariationRow:
    return VariationRow(
        group,
        cells(columns),
        Printed(perplexity),
        Printed(bleu),
        Printed(millions) if millions else None,
    )


# fmt: off
ROWS = {
    "base": _row(
        "base",
        {"N": "6", "d_model": "512", "d_ff": "2048", "h": "8", "d_k": "64", "d_v": "64",
         "P_drop": "0.1", "eps_ls": "0.1", "steps": "100K", "positions": "sinusoid"},
        "4.92", "25.8", "65",
    ),
    "A_h1": _row("A", {"h": "1", "d_k": "512", "d_v": "512"}, "5.29", "24.9"),
    "A_h4": _row("A", {"h": "4", "d_k": "128", "d_v": "128"}, "5.00", "25.5"),
    "A_h16": _row("A", {"h": "16", "d_k": "32", "d_v": "32"}, "4.91", "25.8"),
    "A_h32": _row("A", {"h": "32", "d_k": "16", "d_v": "16"}, "5.01", "25.4"),
    "B_dk16": _row("B", {"d_k": "16"}, "5.16", "25.1", "58"),
    "B_dk32": _row("B", {"d_k": "32"}, "5.01", "25.4", "60"),
    "C_N2": _row("C", {"N": "2"}, "6.11", "23.7", "36"),
    "C_N4": _row("C", {"N": "4"}, "5.19", "25.3", "50"),
    "C_N8": _row("C", {"N": "8"}, "4.88", "25.5", "80"),
    "C_d256": _row("C", {"d_model": "256", "d_k": "32", "d_v": "32"}, "5.75", "24.5", "28"),
    "C_d1024": _row("C", {"d_model": "1024", "d_k": "128", "d_v": "128"}, "4.66", "26.0", "168"),
    "C_ff1024": _row("C", {"d_ff": "1024"}, "5.12", "25.4", "53"),
    "C_ff4096": _row("C", {"d_ff": "4096"}, "4.75", "26.2", "90"),
    "D_drop00": _row("D", {"P_drop": "0.0"}, "5.77", "24.6"),
    "D_drop02": _row("D", {"P_drop": "0.2"}, "4.95", "25.5"),
    "D_smooth00": _row("D", {"eps_ls": "0.0"}, "4.67", "25.3"),
    "D_smooth02": _row("D", {"eps_ls": "0.2"}, "5.47", "25.7"),
    "E_learned": _row("E", {"positions": "learned"}, "4.92", "25.7"),
    "big": _row(
        "big",
        {"N": "6", "d_model": "1024", "d_ff": "4096", "h": "16", "P_drop": "0.3", "steps": "300K"},
        "4.33", "26.4", "213",
    ),
}
# fmt: on
NOTES = {
    "B.d_v": "Rows (B), d_v: blank in the paper; its parameter counts are met only by 64.",
    "big.d_k": "Blank in the paper, so 64 as in base; d_model / h gives the same.",
    "big.d_v": "Blank in the paper, so 64 as in base; d_model / h gives the same.",
    "parameters_millions": (
        "No single vocabulary size gives both 65 for base (39.8K to 41.8K pieces) and 213 for big "
        '(35.3K to 36.3K); the paper\'s "about 37000" gives 63.1 and 214.2.'
    ),
}


def columns_of(row: str) -> dict[str, Printed]:
    """All columns of a row: the printed cells, and base's where they are blank."""
    return {**ROWS["base"].columns, **ROWS[row].columns}


def model_of(row: str) -> Model:
    """The model that a row of table 3 describes; unaveraged (section 6.2)."""
    printed = columns_of(row)

    integers = ("N", "d_model", "d_ff", "h", "d_k", "d_v", "steps")
    columns: dict[str, Any] = {column: int(printed[column].value) for column in integers}
    return Model(
        **columns,
        P_drop=printed["P_drop"].value,
        eps_ls=printed["eps_ls"].value,
        positions="learned" if printed["positions"].text == "learned" else "sinusoid",
        average=1,
        checkpoint_steps=columns["steps"],
    )


def recipe_of(row: str) -> Recipe:
    """The requirements on a run that is compared with a row. Its last checkpoint is scored, so the
    parameters of checkpoints and averaging do not matter."""
    return Recipe(
        parameters=columns(columns_of(row), "table 3")
        | TRAINING
        | SEARCH
        | {"bpe.vocabulary": EN_DE_VOCABULARY},
        training_text=WMT14_EN_DE,
        evaluation_set=DEVELOPMENT_SET,
        unstated=UNSTATED | {"model.average", "model.checkpoint_steps"},
    )
