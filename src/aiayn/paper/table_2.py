"""Table 2: BLEU on newstest2014 and what training cost; and what a run of ours must be for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aiayn.paper import table_3
from aiayn.paper.printed import EvaluationSet, Printed, cells


@dataclass(frozen=True)
class Column:
    """A language pair of table 2.

    `training` are the corpora of WMT 2014 by catalogue name: section 5.1 names the data set, WMT's
    task page its parts. `protocol` names the score of ours, as scores/RUN.json calls it, that is
    measured as the paper measured.
    """

    heading: str
    training: tuple[str, ...]
    test_set: EvaluationSet
    protocol: str


@dataclass(frozen=True)
class RequiredModel:
    """What a model of ours must be to stand beside a row of table 2.

    `columns` are those of table 3, spelled out; `average` counts the last checkpoints averaged
    (section 6.1).
    """

    columns: Mapping[str, Printed]
    average: int


@dataclass(frozen=True, kw_only=True)
class BleuRow:
    """A row of table 2; mappings go by column, and lack the cells that the paper leaves empty.

    `by` names the authors of a competitor, and is None in the Transformer's rows. These have
    `flops_of_both`, one cell over both columns, and `models`: what ours must be, by column. The
    runs of ours that stand beside them are called COLUMN.ROW, like en-de.base.
    """

    name: str
    by: str | None = None
    bleu: Mapping[str, Printed]
    flops: Mapping[str, Printed] = field(default_factory=dict)
    flops_of_both: Printed | None = None
    models: Mapping[str, RequiredModel] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """How the paper reckons training cost: hours x `gpus` x the rate of its `gpu`.

    Sustained single-precision rates stand in footnote 5; `hours`, by row, in section 5.2 (84 are
    3.5 days); `pieces_a_step`, of each side, in section 5.1.
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
        training=("europarl-v7-de-en", "commoncrawl-de-en", "news-commentary-v9-de-en"),
        test_set=EvaluationSet(("newstest2014-de-en",), 3003),
        protocol="compound_split_bleu",
    ),
    "en-fr": Column(
        heading="EN-FR",
        training=(
            "europarl-v7-fr-en",
            "commoncrawl-fr-en",
            "news-commentary-v9-fr-en",
            "un-fr-en",
            "giga-fr-en",
        ),
        test_set=EvaluationSet(("newstest2014-fr-en",), 3003),
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


def _models(
    row: str, average: int, changes: Mapping[str, Mapping[str, str]]
) -> dict[str, RequiredModel]:
    """A row of table 3 for each column, with what the column changes of it."""
    return {
        column: RequiredModel(table_3.columns_of(row) | cells(changes.get(column, {})), average)
        for column in COLUMNS
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
        models=_models("base", 5, {}),
    ),
    "big": BleuRow(
        name="Transformer (big)",
        bleu=cells({"en-de": "28.4", "en-fr": "41.8"}),
        flops_of_both=Printed("2.3e19"),
        models=_models("big", 20, {"en-fr": {"P_drop": "0.1"}}),  # section 6.1
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
