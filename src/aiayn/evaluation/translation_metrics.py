"""Metrics of translations: chrF, and BLEU by every protocol of the scores that ours are compared
with.

sacreBLEU computes all of them; the protocols differ in tokenization.

name | text | metric
--- | --- | ---
bleu | detokenized, cased | sacreBLEU's standard: 13a tokenization, exponential smoothing
chrf | detokenized, cased | character n-grams up to 6, recall weighted by 2 (chrF2)
tokenized_bleu | Moses words, cased | multi-bleu.perl
compound_split_bleu | the same, German compounds split, reference's quotes plain | multi-bleu.perl
lowercased_bleu | lower-cased, normalised Moses words, as usual for Multi30k | multi-bleu.perl

A task with `text.form: lowercased_tokens` has only the last metric: the others need case and
spacing, which its text has lost. Table 2's EN-DE was scored by compound_split_bleu; the protocol of
EN-FR is not known, and tokenized_bleu is used for it (docs/deviations.md).

multi-bleu.perl with one reference is BLEU-4 without smoothing; sacreBLEU computes the same with
`tok:none|smooth:none`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
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

# The paper's EN-DE scores were measured against Google's tokenized newstest2014.de, in which all
# double quotes are plain, even the low one (tensor2tensor#317). The authors' script keeps „ in
# hypotheses.
PLAIN_QUOTES = str.maketrans(dict.fromkeys("„“”«»", '"'))

NO_CHANGES: Mapping[str, str] = {}
Sides = tuple[Sequence[str], Sequence[str]]  # hypotheses and references


@dataclass(frozen=True)
class Translations:
    """Hypotheses and their references, in the same order; hypotheses may be empty.

    Attributes:
        language: two-letter code of the target language, for Moses' rules.
        form: of hypotheses and references, as in the text's manifest.
    Raises:
        ScoreError: there are no references, or the numbers of hypotheses and references differ.
    """

    hypotheses: Sequence[str]
    references: Sequence[str]
    language: str
    form: str = RAW

    def __post_init__(self) -> None:
        if not self.references or len(self.hypotheses) != len(self.references):
            raise ScoreError(
                f"{len(self.hypotheses)} hypotheses cannot be scored against "
                f"{len(self.references)} references: there must be one hypothesis, possibly empty, "
                "for each reference."
            )

    @property
    def sides(self) -> Sides:
        return self.hypotheses, self.references

    @cached_property
    def tokenized(self) -> Sides:
        """Moses words, cased."""
        return (
            moses.tokenized(self.hypotheses, self.language),
            moses.tokenized(self.references, self.language),
        )


def by_sacrebleu(
    metric: Callable[[], SacrebleuMetric], highest: float = 100.0
) -> Callable[[Translations], Score | None]:
    """The score of raw text by a metric of sacreBLEU's, or by another subclass of its `Metric`.

    Args:
        metric: makes the metric.
        highest: as in `bootstrapped`.
    """

    def score(translations: Translations) -> Score | None:
        if translations.form != RAW:
            return None
        return bootstrapped(metric(), translations.sides, highest=highest)

    return score


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
    Metric(name="bleu", label="SacreBLEU", score=by_sacrebleu(BLEU), headline=True),
    Metric(name="chrf", label="chrF2", score=by_sacrebleu(CHRF)),
    Metric(name="tokenized_bleu", label="Tokenized BLEU", score=_tokenized_bleu),
    Metric(name="compound_split_bleu", label="Compound-split BLEU", score=_compound_split_bleu),
    Metric(name="lowercased_bleu", label="Lower-cased BLEU", score=_lowercased_bleu, headline=True),
)


ROUNDING = 1e-6  # sacreBLEU gives 100.00000000000004 where all words match


def text_bleu(form: str) -> BLEU:
    """The BLEU by which systems are compared, for text of this form."""
    return BLEU() if form == RAW else _multi_bleu()


def _multi_bleu() -> BLEU:
    # force: no warning that the text looks tokenized; it is
    return BLEU(tokenize="none", smooth_method="none", force=True)


def _cased_words(translations: Translations) -> dict[str, str]:
    return {"case": "mixed", "tok": _tok(translations), "punct": "unicode-replaced"}


def _tok(translations: Translations) -> str:
    return moses.signature(translations.language)


def bootstrapped(
    metric: SacrebleuMetric,
    sides: Sides,
    preparation: Mapping[str, str] = NO_CHANGES,
    highest: float = 100.0,
) -> Score:
    """A sacreBLEU metric with its bootstrap interval.

    Args:
        preparation: changes and additions to the signature.
        highest: the upper end of the metric's scale, whose lower end is 0; math.inf if it has none
            (TER). The interval is symmetric around the mean and is clipped to the scale.
    Raises:
        ScoreError: the score is outside its scale.
    """
    hypotheses, references = sides
    _score_in_python_floats(metric)
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
    # the only public access to the interval, which is absent if every resample scored 0
    data = json.loads(result.format(width=6, signature=str(signature), is_json=True))
    mean, half = data.get("confidence_mean", 0.0), data.get("confidence_var", 0.0)
    return Score(
        value=result.score,
        signature=str(signature),
        low=max(0.0, mean - half),
        high=min(highest, mean + half),
    )


def _score_in_python_floats(metric: SacrebleuMetric) -> None:
    """Let a metric score all resamples as Python floats.

    sacreBLEU 2.6 returns float32 for a resample with a match and float for one without, and fails
    to average the two, so a run with mostly empty outputs could not be scored.
    """
    compute = metric._compute_score_from_stats

    def in_python_floats(stats: list[Any]) -> Any:
        result = compute(stats)
        result.score = float(result.score)
        return result

    metric._compute_score_from_stats = in_python_floats  # type: ignore[method-assign]


@contextmanager
def seeded() -> Iterator[None]:
    """Set sacreBLEU's seed, which it reads only from the environment."""
    before = os.environ.get("SACREBLEU_SEED")
    os.environ["SACREBLEU_SEED"] = str(SEED)
    try:
        yield
    finally:
        del os.environ["SACREBLEU_SEED"]
        if before is not None:
            os.environ["SACREBLEU_SEED"] = before
