"""Table 4: English constituency parsing, F1 on section 23 of the Wall Street Journal (6.3)."""

from __future__ import annotations

from dataclasses import dataclass

from aiayn.paper import table_3
from aiayn.paper.corpora import WSJ, WSJ_23, WSJ_AND_PARSED, TrainingText
from aiayn.paper.printed import Printed, cells
from aiayn.paper.recipe import TRAINING, UNSTATED, Recipe, columns, search
from aiayn.paper.requirement import Requirement, about, exactly


@dataclass(frozen=True)
class ParserRow:
    """A row of table 4.

    The Transformer's rows name our `run` to compare with them, and the `recipe` it must follow. Two
    of the semi-supervised row's corpora are not public.
    """

    name: str
    training: str
    f1: Printed
    run: str | None = None
    recipe: Recipe | None = None


# dropout and learning rate were tuned on section 22, without stating the values; nor does the paper
# state d_k, d_v, the checkpoint interval and the tokenization of trees
UNSTATED_FOR_PARSING = {
    "model.P_drop", "training.learning_rate_scale", "model.d_k", "model.d_v",
    "model.checkpoint_steps", "bpe.symbols",
}  # fmt: skip
ABOUT = "English constituency parsing, F1 on section 23 of the Wall Street Journal."
TEST_SET = WSJ_23


def _recipe(vocabulary: Requirement, text: TrainingText) -> Recipe:
    """Section 6.3: 4 layers, d_model 1024, other search parameters, the rest as base for EN-DE."""
    kept = {
        name: cell
        for name, cell in table_3.columns_of("base").items()
        if name in ("d_ff", "h", "eps_ls", "steps", "positions")
    }
    trained = {
        name: needed for name, needed in TRAINING.items() if name != "training.learning_rate_scale"
    }
    return Recipe(
        parameters=columns(cells({"N": "4", "d_model": "1024"}), "section 6.3")
        | columns(kept, "section 6.3: as in base")
        | {"model.average": exactly("5", "section 6.3: as in base")}
        | trained
        | search("21", "0.3", "300", "section 6.3")
        | {"bpe.vocabulary": vocabulary},
        training_text=text,
        evaluation_set=TEST_SET,
        unstated=UNSTATED | UNSTATED_FOR_PARSING,
    )


# K may be 1,000 or 1,024: the authors' code has 2^14 and 2^15 pieces
RECIPE_16K = _recipe(about("16K", "section 6.3", low=15_500, high=16_500), WSJ)
RECIPE_32K = _recipe(about("32K", "section 6.3", low=31_500, high=32_768), WSJ_AND_PARSED)
WSJ_ONLY = "WSJ only, discriminative"
ROWS = {
    "vinyals_wsj": ParserRow("Vinyals & Kaiser et al. (2014)", WSJ_ONLY, Printed("88.3")),
    "petrov": ParserRow("Petrov et al. (2006)", WSJ_ONLY, Printed("90.4")),
    "zhu_wsj": ParserRow("Zhu et al. (2013)", WSJ_ONLY, Printed("90.4")),
    "dyer_wsj": ParserRow("Dyer et al. (2016)", WSJ_ONLY, Printed("91.7")),
    "transformer_wsj": ParserRow(
        "Transformer (4 layers)", WSJ_ONLY, Printed("91.3"), "parsing.parser", RECIPE_16K
    ),
    "zhu_semi": ParserRow("Zhu et al. (2013)", "semi-supervised", Printed("91.3")),
    "huang": ParserRow("Huang & Harper (2009)", "semi-supervised", Printed("91.3")),
    "mcclosky": ParserRow("McClosky et al. (2006)", "semi-supervised", Printed("92.1")),
    "vinyals_semi": ParserRow("Vinyals & Kaiser et al. (2014)", "semi-supervised", Printed("92.1")),
    "transformer_semi": ParserRow(
        "Transformer (4 layers)",
        "semi-supervised",
        Printed("92.7"),
        "parsing-semi.parser",
        RECIPE_32K,
    ),
    "luong": ParserRow("Luong et al. (2015)", "multi-task", Printed("93.0")),
    "dyer_generative": ParserRow("Dyer et al. (2016)", "generative", Printed("93.3")),
}
