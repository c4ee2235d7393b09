"""Results that others published on real data small enough for one machine, for comparison where the
paper's own data are too large."""

from __future__ import annotations

from dataclasses import dataclass

from aiayn.paper.corpora import EvaluationSet
from aiayn.paper.printed import Printed


@dataclass(frozen=True, kw_only=True)
class Published:
    """A published score in percent, of a `system` on `sentences`; `score` is our metric for it.

    `target` is the task's target language, or tree. `source` names the publication, or says that
    the score is from secondary sources.
    """

    system: str
    sentences: EvaluationSet
    target: str
    score: str
    value: Printed
    source: str


FLICKR_2016 = EvaluationSet(("multi30k-test-2016-flickr",), 1000)
GENIA_DEV = EvaluationSet(("genia-dev",), 1361)
WU = "Transformer tiny, trained on the text alone"
MCCLOSKY = "McClosky's page on biomedical parsing"

PUBLISHED = (
    Published(
        system=WU, sentences=FLICKR_2016, target="de", score="lowercased_bleu",
        value=Printed("41.02"), source="Wu et al. 2021, the README of their code",
    ),
    Published(
        system=WU, sentences=FLICKR_2016, target="fr", score="lowercased_bleu",
        value=Printed("61.80"), source="Wu et al. 2021, from secondary sources",
    ),
    Published(
        system="Charniak's parser, trained on GENIA", sentences=GENIA_DEV, target="tree",
        score="bracket_f1_wrapped", value=Printed("83.6"), source=MCCLOSKY,
    ),
    Published(
        system="the same with a reranker", sentences=GENIA_DEV, target="tree",
        score="bracket_f1_wrapped", value=Printed("85.7"), source=MCCLOSKY,
    ),
    Published(
        system="the same, self-trained on PubMed", sentences=GENIA_DEV, target="tree",
        score="bracket_f1_wrapped", value=Printed("87.6"), source=MCCLOSKY,
    ),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CrossValidated:
    """A published mean accuracy in percent over ten folds of a text. `text` is its name, `download`
    its entry in the catalogue, `source` the publication."""

    system: str
    text: str
    download: str
    value: Printed
    source: str


MR = "Sentence Polarity (MR)"

CROSS_VALIDATED = (
    (
        CrossValidated(
            system="CNN-rand", text=MR, download="sentence-polarity", value=Printed("76.1"),
            source="Kim 2014, table 2",
        ),
        CrossValidated(
            system="LSTM-rand", text=MR, download="sentence-polarity", value=Printed("75.7"),
            source="from secondary sources",
        ),
    ),
)  # fmt: skip
