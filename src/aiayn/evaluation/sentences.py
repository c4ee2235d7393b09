"""Whether BLEU differs by more than another choice of sentences would make it: sacreBLEU's paired
bootstrap test. It is information on the sentences; what it cannot know is the noise of the seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sacrebleu.significance import PairedTest, Result

from aiayn.config import Run
from aiayn.evaluation.translation_metrics import RESAMPLES, seeded, text_bleu
from aiayn.results.comparison import Sentences
from aiayn.results.scores import DECIMALS
from aiayn.results.text import RAW


@dataclass(frozen=True)
class Scored:
    """A run's BLEU, and how it stands beside the base's on the same sentences: not the base's."""

    bleu: float
    sentences: Sentences | None = None


def paired_by_seed(
    runs: Mapping[str, Run],
    bases: Mapping[int, str],
    hypotheses: Mapping[str, Sequence[str]],
    references: Sequence[str],
    form: str = RAW,
) -> tuple[str, dict[str, Scored]]:
    """`paired`, of every run against that of `bases` with its seed, or else against the first."""
    first = next(iter(bases.values()))
    signature = ""
    found: dict[str, Scored] = {}
    for base in bases.values():
        others = [
            name
            for name, run in runs.items()
            if name not in bases.values() and bases.get(run.seed, first) == base
        ]
        signature, scores = paired(base, others, hypotheses, references, form)
        found |= scores
    return signature, found


def paired(
    base: str,
    others: Sequence[str],
    hypotheses: Mapping[str, Sequence[str]],
    references: Sequence[str],
    form: str = RAW,
) -> tuple[str, dict[str, Scored]]:
    """sacreBLEU's paired bootstrap test of each of `others` against `base`.

    Args:
        form: of the text, which decides what BLEU counts: see `text_bleu`.
    Returns:
        The signature, and what was found of each system.
    """
    if not others:
        metric = text_bleu(form)
        score = metric.corpus_score(list(hypotheses[base]), [list(references)]).score
        return str(metric.get_signature()), {base: Scored(round(score, DECIMALS))}
    systems: list[tuple[str, Sequence[str]]] = [
        (name, list(hypotheses[name])) for name in (base, *others)
    ]
    with seeded():
        signatures, results = PairedTest(
            systems,
            {"BLEU": text_bleu(form)},
            [list(references)],
            test_type="bs",
            n_samples=RESAMPLES,
        )()
    first, *rest = [result for result in results["BLEU"] if isinstance(result, Result)]
    found = {base: Scored(round(first.score, DECIMALS))}
    for name, result in zip(others, rest, strict=True):
        difference = round(result.score - first.score, DECIMALS)
        # without a spread over the samples sacreBLEU gives the least p there is, not the largest
        has_spread = difference and len(references) > 1
        p_value = round(result.p_value, 4) if has_spread and result.p_value else 1.0
        sentences = Sentences(difference=difference, p_value=p_value)
        found[name] = Scored(round(result.score, DECIMALS), sentences)
    return str(signatures["BLEU"]), found
