"""Metrics of translations: BLEU by every protocol that a score here is compared under, and chrF.

sacreBLEU counts throughout; what differs is how text is split into words beforehand.

name | text | counted
--- | --- | ---
bleu | detokenized, cased | sacreBLEU's standard: 13a, an n-gram order without a match smoothed
chrf | detokenized, cased | character n-grams up to 6, recall weighted by 2 (chrF2)
tokenized_bleu | Moses words, cased | multi-bleu.perl
compound_split_bleu | the same, German compounds split, reference's quotes plain | multi-bleu.perl
lowercased_bleu | lower-cased, normalised Moses words: Multi30k's custom | multi-bleu.perl

Text that was learned as lower-cased Moses words (`text.form: lowercased_tokens`) has the last score
alone, over these words as they are: the other metrics count case and spacing, which it has lost.
Table 2's EN-DE was scored by compound_split_bleu; of EN-FR the protocol is not known, and
tokenized_bleu stands for it (docs/deviations.md).

multi-bleu.perl with one reference is BLEU-4 without smoothing, and with the length of that
reference as the brevity penalty's; sacreBLEU computes the same with `tok:none|smooth:none`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sacrebleu import BLEU, CHRF
from sacrebleu.metrics.base import Metric as SacrebleuMetric

from aiayn.data import moses
from aiayn.errors import ScoreError
from aiayn.evaluation.metric import Metric
from aiayn.results.scores import Score
from aiayn.results.text import RAW

RESAMPLES = 1000
SEED = 12345  # sacreBLEU's own default: its command line gives the same interval

# The paper's EN-DE scores were measured against Google's tokenized newstest2014.de, where every
# double quote is plain, also the low one (tensor2tensor#317). The authors' script leaves „ in
# hypotheses.
PLAIN_QUOTES = str.maketrans(dict.fromkeys("„“”«»", '"'))

UNPREPARED: Mapping[str, str] = {}
Sides = tuple[Sequence[str], Sequence[str]]  # hypotheses and references


@dataclass(frozen=True)
class Translations:
    """Hypotheses with as many references, in the same order; an empty hypothesis is legal.

    Attributes:
        language: of the target, two letters, for Moses' rules.
        form: of hypotheses and references, as in the text's manifest.
    Raises:
        ScoreError: there is no sentence, or there are not as many of one as of the other.
    """

    hypotheses: Sequence[str]
    references: Sequence[str]
    language: str
    form: str = RAW

    def __post_init__(self) -> None:
        if not self.references or len(self.hypotheses) != len(self.references):
            raise ScoreError(
                f"{len(self.hypotheses)} hypotheses cannot be scored against "
                f"{len(self.references)} references: give one hypothesis, if only an empty one, "
                "for each reference."
            )

    @property
    def sides(self) -> Sides:
        return self.hypotheses, self.references

    @cached_property
    def tokenized(self) -> Sides:
        """As Moses words, cased."""
        return (
            moses.tokenized(self.hypotheses, self.language),
            moses.tokenized(self.references, self.language),
        )


def _bleu(translations: Translations) -> Score | None:
    if translations.form != RAW:
        return None
    return bootstrapped(BLEU(), translations.sides)


def _chrf(translations: Translations) -> Score | None:
    if translations.form != RAW:
        return None
    return bootstrapped(_Chrf(), translations.sides)


def _tokenized_bleu(translations: Translations) -> Score | None:
    if translations.form != RAW:
        return None
    return bootstrapped(_multi_bleu(), translations.tokenized, _cased_words(translations))


def _compound_split_bleu(translations: Translations) -> Score | None:
    if translations.form != RAW or translations.language != "de":
        return None
    plain = [line.translate(PLAIN_QUOTES) for line in translations.references]
    hypotheses, _ = translations.tokenized
    sides = hypotheses, moses.tokenized(plain, translations.language)
    split = moses.compounds_split(sides[0]), moses.compounds_split(sides[1])
    preparation = {**_cased_words(translations), "compounds": "split", "refquotes": "plain"}
    return bootstrapped(_multi_bleu(), split, preparation)


def _lowercased_bleu(translations: Translations) -> Score:
    hypotheses, references = translations.sides
    if translations.form == RAW:
        hypotheses = moses.normalized(hypotheses, translations.language)
        references = moses.normalized(references, translations.language)
    preparation = {"case": "lc", "tok": _tok(translations), "punct": "moses-normalized"}
    return bootstrapped(_multi_bleu(), (hypotheses, references), preparation)


TRANSLATION_METRICS: tuple[Metric[Translations], ...] = (
    Metric(name="bleu", label="SacreBLEU", score=_bleu, headline=True),
    Metric(name="chrf", label="chrF2", score=_chrf),
    Metric(name="tokenized_bleu", label="Tokenized BLEU", score=_tokenized_bleu),
    Metric(name="compound_split_bleu", label="Compound-split BLEU", score=_compound_split_bleu),
    Metric(name="lowercased_bleu", label="Lower-cased BLEU", score=_lowercased_bleu, headline=True),
)


ROUNDING = 1e-6  # sacreBLEU gives 100.00000000000004 where all words match


def text_bleu(form: str) -> BLEU:
    """BLEU over text of this form as it is: what systems are compared by."""
    return BLEU() if form == RAW else _multi_bleu()


def _multi_bleu() -> BLEU:
    # force: the text is tokenized on purpose, so no warning that it looks it
    return BLEU(tokenize="none", smooth_method="none", force=True)


def _cased_words(translations: Translations) -> dict[str, str]:
    return {"case": "mixed", "tok": _tok(translations), "punct": "unicode-replaced"}


def _tok(translations: Translations) -> str:
    return moses.signature(translations.language)


def bootstrapped(
    metric: SacrebleuMetric,
    sides: Sides,
    preparation: Mapping[str, str] = UNPREPARED,
    highest: float = 100.0,
) -> Score:
    """A metric of sacreBLEU with its bootstrap interval.

    Args:
        preparation: corrects and completes the signature.
        highest: the upper end of the metric's scale, whose lower end is 0; math.inf where it has
            none (TER). The interval is laid symmetrically around the mean and could reach beyond
            them.
    Raises:
        ScoreError: the score is beyond its scale.
    """
    hypotheses, references = sides
    with seeded():
        result = metric.corpus_score(hypotheses, [references], n_bootstrap=RESAMPLES)
    if not 0 <= result.score <= highest + ROUNDING:
        raise ScoreError(
            f"{result.name} is {result.score:.2f}, beyond its scale of 0 to {highest:g}. Give "
            "bootstrapped() the metric's own `highest`."
        )
    signature = metric.get_signature()
    for key, value in preparation.items():
        signature.update(key, value)
    # The interval's only public form. It is absent where every resample scored 0.
    published = json.loads(result.format(width=6, signature=str(signature), is_json=True))
    mean, half = published.get("confidence_mean", 0.0), published.get("confidence_var", 0.0)
    return Score(
        value=result.score,
        signature=str(signature),
        low=max(0.0, mean - half),
        high=min(highest, mean + half),
    )


class _PythonFloats(SacrebleuMetric):
    """A metric whose resamples all score in Python's floats.

    sacreBLEU 2.6 yields float32 for a resample with a match and float for one without, and then
    fails to average the two: a run that left most lines empty could not be scored.
    """

    def _compute_score_from_stats(self, stats: list[Any]) -> Any:
        # of the metric that this is mixed into
        result = super()._compute_score_from_stats(stats)  # type: ignore[safe-super]
        result.score = float(result.score)
        return result


class _Chrf(_PythonFloats, CHRF):
    """chrF2."""


@contextmanager
def seeded() -> Iterator[None]:
    """sacreBLEU takes its seed from the environment alone; scores must not depend on the user's."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(SEED)
    try:
        yield
    finally:
        del os.environ["SACREBLEU_SEED"]
        if before is not None:
            os.environ["SACREBLEU_SEED"] = before
