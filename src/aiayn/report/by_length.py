"""BLEU by the length of the source sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from aiayn.evaluation.translation_metrics import text_bleu
from aiayn.report.drawing import draw_lines, drawing
from aiayn.report.evidence import Evidence, leading_runs
from aiayn.report.examples import TranslatedSet, read_test_sets
from aiayn.report.section import Figure, Section

BUCKETS = 6


def section(evidence: Evidence) -> Section:
    """A figure for each translation task of which a leading run has outputs."""
    config = evidence.config
    figures = []
    for test_set in read_test_sets(evidence):
        runs = [run for run in leading_runs(config, test_set.task) if run in test_set.hypotheses]
        if runs:
            figures.append(bleu_by_length(test_set, runs))
    return Section(
        key="length",
        title="BLEU by sentence length",
        subtitle="test sets split by the length of the source",
        lead="Corpus BLEU of test sentences of similar length: with sacreBLEU’s defaults, or over "
        "the words as they are where lower-cased words were learned. Groups are about equally "
        "large, so that each BLEU is about equally certain.",
        figures=tuple(figures),
    )


def bleu_by_length(test_set: TranslatedSet, runs: Sequence[str]) -> Figure:
    """Of `runs`, at least one, whose outputs are there."""
    lengths = pd.Series([len(line.split()) for line in test_set.source])
    data = pd.DataFrame(
        {
            "run": run,
            "shortest": bucket.min(),
            "longest": bucket.max(),
            "pairs": len(bucket),
            "bleu": _bleu(test_set, run, bucket.index),
        }
        for run in runs
        for _, bucket in lengths.groupby(buckets_of(lengths))
    )
    low, high = data["shortest"].astype(str), data["longest"].astype(str)
    names = data.assign(words=low.where(low == high, low + "–" + high))
    with drawing(6.4, 3.0) as drawn:
        axes = drawn.figure.add_subplot()
        draw_lines(axes, names, "words", "bleu", by="run", markers=True)
        axes.set(xlabel="words in the source sentence", ylabel="corpus BLEU")
        axes.legend(loc="best")
    return Figure(
        name=f"bleu_by_length_{test_set.task}",
        title=f"BLEU by sentence length, {test_set.task}",
        caption=f"On {test_set.corpus}, {len(test_set.source):,} pairs; "
        f"outputs of {', '.join(runs)}.",
        svg=drawn.svg,
        data=data.assign(bleu=data["bleu"].map("{:.2f}".format)),
    )


def buckets_of(lengths: pd.Series[int]) -> pd.Series[float]:
    """Which of at most BUCKETS parts of about equal size, from short to long; equal lengths share a
    rank, and so stay together."""
    return (lengths.rank(method="min") - 1) * BUCKETS // len(lengths)


def _bleu(test_set: TranslatedSet, run: str, lines: Iterable[int]) -> float:
    outputs = [(test_set.hypotheses[run][line], test_set.reference[line]) for line in lines]
    hypotheses, references = map(list, zip(*outputs, strict=True))
    return float(text_bleu(test_set.form).corpus_score(hypotheses, [references]).score)
