"""Table 2: BLEU on newstest2014, training cost, and the recipes of comparable runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aiayn.paper import table_3
from aiayn.paper.corpora import (
    TEST_SETS,
    WMT14_EN_DE,
    WMT14_EN_FR,
    EvaluationSet,
    TrainingText,
)
from aiayn.paper.printed import Printed, cells
from aiayn.paper.recipe import (
    EN_DE_VOCABULARY,
    EN_FR_VOCABULARY,
    SEARCH,
    TRAINING,
    Recipe,
    averaging,
    columns,
)
from aiayn.paper.requirement import Requirement


@dataclass(frozen=True)
class Column:
    """A language pair of table 2.

    `protocol` is our metric that follows the paper's protocol.
    """

    heading: str
    training_text: TrainingText
    vocabulary: Requirement
    test_set: EvaluationSet
    protocol: str


@dataclass(frozen=True, kw_only=True)
class BleuRow:
    """A row of table 2; mappings are by column, without the cells that the paper leaves empty.

    `by` names the authors of an earlier system; it is None in the Transformer's rows, which have
    `flops_of_both`, one cell for both columns, and `recipes`, the requirements on our runs by
    column. Our runs to compare with them are named COLUMN.ROW, like en-de.base.
    """

    name: str
    by: str | None = None
    bleu: Mapping[str, Printed]
    flops: Mapping[str, Printed] = field(default_factory=dict)
    flops_of_both: Printed | None = None
    recipes: Mapping[str, Recipe] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The paper's training cost: `hours` x `gpus` x the sustained rate of its `gpu`.

    Sustained single-precision rates are from footnote 5; `hours`, by row, from section 5.2 (84 are
    3.5 days); `pieces_a_step`, per side, from section 5.1.
    """

    sustained_teraflops: Mapping[str, Printed]
    gpu: str
    gpus: int
    hours: Mapping[str, Printed]
    pieces_a_step: int


ABOUT = "BLEU on newstest2014, English to German and English to French, and what training cost."
VOCABULARY = 37_000  # "about 37000", English to German (section 5.1)
COLUMNS = {
    "en-de": Column(
        heading="EN-DE",
        training_text=WMT14_EN_DE,
        vocabulary=EN_DE_VOCABULARY,
        test_set=TEST_SETS["en-de"],
        protocol="compound_split_bleu",
    ),
    "en-fr": Column(
        heading="EN-FR",
        training_text=WMT14_EN_FR,
        vocabulary=EN_FR_VOCABULARY,
        test_set=TEST_SETS["en-fr"],
        protocol="tokenized_bleu",
    ),
}
COST = Cost(
    sustained_teraflops=cells({"K80": "2.8", "K40": "3.7", "M40": "6.0", "P100": "9.5"}),
    gpu="P100",
    gpus=8,
    hours=cells({"base": "12", "big": "84"}),
    pieces_a_step=25_000,
)


def _recipes(
    row: str, average: str, seconds_per_step: str, changes: Mapping[str, Mapping[str, str]]
) -> dict[str, Recipe]:
    """The recipe of a row of table 3 for each column; `changes` are the column's deviations."""
    return {
        key: Recipe(
            parameters=columns(table_3.columns_of(row), "table 3")
            | columns(cells(changes.get(key, {})), "section 6.1")
            | averaging(average, seconds_per_step)
            | TRAINING
            | SEARCH
            | {"bpe.vocabulary": column.vocabulary},
            training_text=column.training_text,
            evaluation_set=column.test_set,
        )
        for key, column in COLUMNS.items()
    }


ROWS = {
    "bytenet": BleuRow(
        name="ByteNet", by="Kalchbrenner et al., 2016", bleu=cells({"en-de": "23.75"})
    ),
    "deep_att": BleuRow(
        name="Deep-Att + PosUnk",
        by="Zhou et al., 2016",
        bleu=cells({"en-fr": "39.2"}),
        flops=cells({"en-fr": "1.0e20"}),
    ),
    "gnmt": BleuRow(
        name="GNMT + RL",
        by="Wu et al., 2016",
        bleu=cells({"en-de": "24.6", "en-fr": "39.92"}),
        flops=cells({"en-de": "2.3e19", "en-fr": "1.4e20"}),
    ),
    "convs2s": BleuRow(
        name="ConvS2S",
        by="Gehring et al., 2017",
        bleu=cells({"en-de": "25.16", "en-fr": "40.46"}),
        flops=cells({"en-de": "9.6e18", "en-fr": "1.5e20"}),
    ),
    "moe": BleuRow(
        name="MoE",
        by="Shazeer et al., 2017",
        bleu=cells({"en-de": "26.03", "en-fr": "40.56"}),
        flops=cells({"en-de": "2.0e19", "en-fr": "1.2e20"}),
    ),
    "deep_att_ensemble": BleuRow(
        name="Deep-Att + PosUnk, ensemble",
        by="Zhou et al., 2016",
        bleu=cells({"en-fr": "40.4"}),
        flops=cells({"en-fr": "8.0e20"}),
    ),
    "gnmt_ensemble": BleuRow(
        name="GNMT + RL, ensemble",
        by="Wu et al., 2016",
        bleu=cells({"en-de": "26.30", "en-fr": "41.16"}),
        flops=cells({"en-de": "1.8e20", "en-fr": "1.1e21"}),
    ),
    "convs2s_ensemble": BleuRow(
        name="ConvS2S, ensemble",
        by="Gehring et al., 2017",
        bleu=cells({"en-de": "26.36", "en-fr": "41.29"}),
        flops=cells({"en-de": "7.7e19", "en-fr": "1.2e21"}),
    ),
    "base": BleuRow(
        name="Transformer (base model)",
        bleu=cells({"en-de": "27.3", "en-fr": "38.1"}),
        flops_of_both=Printed("3.3e18"),
        recipes=_recipes("base", "5", "0.4", {}),
    ),
    "big": BleuRow(
        name="Transformer (big)",
        bleu=cells({"en-de": "28.4", "en-fr": "41.8"}),
        flops_of_both=Printed("2.3e19"),
        recipes=_recipes("big", "20", "1.0", {"en-fr": {"P_drop": "0.1"}}),
    ),
}
NOTES = {
    "big.bleu.en-fr": (
        "The first version of the paper says 41.0, and so does the prose of section 6.1 to this "
        "day; the table and abstract of later versions say 41.8."
    ),
    "flops": (
        "The paper's costs are not counted from the models. They are training time x number of "
        "GPUs x an assumed sustained rate (footnote 5). For each Transformer it prints one cost "
        "for both pairs."
    ),
}
