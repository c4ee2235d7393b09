"""BLEU and chrF of a test set, by every protocol that a number of ours is compared under.

The counting is sacreBLEU's throughout; what differs is how text is cut into words beforehand.

name | text | counted
--- | --- | ---
bleu | detokenized, cased | sacreBLEU's standard: 13a, an n-gram order without a match smoothed
chrf | detokenized, cased | character n-grams up to 6, recall weighted by 2 (chrF2)
tokenized_bleu | Moses words, cased | multi-bleu.perl
compound_split_bleu | the same with German compounds split: table 2's EN-DE | multi-bleu.perl
lowercased_bleu | lower-cased, normalised Moses words: Multi30k's custom | multi-bleu.perl

Text that was learned in the last form (`text.form: lowercased_tokens`) has the last score alone.

multi-bleu.perl with one reference is BLEU-4 without smoothing, and with the length of that
reference as the brevity penalty's; sacreBLEU computes the same with `tok:none|smooth:none`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sacrebleu import BLEU, CHRF
from sacrebleu.metrics.chrf import CHRFScore

from aiayn.data import moses
from aiayn.errors import ScoreError
from aiayn.results.scores import Score
from aiayn.results.text import RAW

RESAMPLES = 1000
SEED = 12345  # sacreBLEU's own default: its command line gives the same interval


def score_split(
    hypotheses: Sequence[str], references: Sequence[str], target_language: str, form: str = RAW
) -> dict[str, Score]:
    """Every score of one test set, by name; `compound_split_bleu` for German ("de") alone.

    Of text that was learned as lower-cased Moses words there is `lowercased_bleu` alone, over these
    words as they stand: their case and spacing cannot be had back, which the other scores count.

    Args:
        hypotheses: sentences; an empty one is legal and earns nothing.
        references: as many sentences, in the same order.
        target_language: two letters, for Moses' rules.
        form: of hypotheses and references, as the text's manifest tells it.
    Raises:
        ScoreError: there is no sentence, or there are not as many of one as of the other.
    """
    if not references or len(hypotheses) != len(references):
        raise ScoreError(
            f"{len(hypotheses)} hypotheses cannot be scored against {len(references)} references: "
            "give one hypothesis, if only an empty one, for each reference."
        )
    tok = moses.signature(target_language)
    lowercased = {"case": "lc", "tok": tok, "punct": "moses-normalized"}
    if form != RAW:
        score = _measure(text_bleu(form), hypotheses, references, **lowercased)
        return {"lowercased_bleu": score}
    scores = {
        "bleu": _measure(text_bleu(form), hypotheses, references),
        "chrf": _measure(_Chrf(), hypotheses, references),
    }
    sides = [moses.tokenized(side, target_language) for side in (hypotheses, references)]
    scores["tokenized_bleu"] = _measure(
        _multi_bleu(), *sides, case="mixed", tok=tok, punct="unicode-replaced"
    )
    if target_language == "de":
        scores["compound_split_bleu"] = _measure(
            _multi_bleu(),
            *map(moses.compounds_split, sides),
            case="mixed", tok=tok, punct="unicode-replaced", compounds="split",
        )  # fmt: skip
    scores["lowercased_bleu"] = _measure(
        _multi_bleu(),
        *(moses.normalized(side, target_language) for side in (hypotheses, references)),
        **lowercased,
    )
    return scores


def text_bleu(form: str) -> BLEU:
    """BLEU over text of this form as it stands: the measure by which systems are compared."""
    return BLEU() if form == RAW else _multi_bleu()


def _multi_bleu() -> BLEU:
    # force: the text is tokenized on purpose, so no warning that it looks it
    return BLEU(tokenize="none", smooth_method="none", force=True)


def _measure(
    metric: BLEU | CHRF, hypotheses: Sequence[str], references: Sequence[str], **preparation: str
) -> Score:
    """The metric with a bootstrap interval; `preparation` corrects and completes the signature."""
    with seeded():
        result = metric.corpus_score(hypotheses, [references], n_bootstrap=RESAMPLES)
    signature = metric.get_signature()
    for key, value in preparation.items():
        signature.update(key, value)
    # The interval's only public form. It is absent where every resample scored 0.
    published = json.loads(result.format(width=6, signature=str(signature), is_json=True))
    mean, half = published.get("confidence_mean", 0.0), published.get("confidence_var", 0.0)
    return Score(
        value=min(100.0, result.score),  # sums of logarithms can end a hair above
        signature=str(signature),
        # the interval is laid symmetrically around the mean, so it can pass the ends of the scale
        low=max(0.0, mean - half),
        high=min(100.0, mean + half),
    )


class _Chrf(CHRF):
    """chrF2 whose resamples all score in Python's floats.

    sacreBLEU 2.6 yields float32 for a resample with a match and float for one without, and then
    fails to average the two: a run that left most lines empty could not be scored.
    """

    def _compute_score_from_stats(self, stats: list[int]) -> CHRFScore:
        result = super()._compute_score_from_stats(stats)
        result.score = float(result.score)
        return result


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
