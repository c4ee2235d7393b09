"""BLEU by the length of the source sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import pandas as pd

from aiayn.evaluation.translation_metrics import text_bleu
from aiayn.report.drawing import drawing, legend_label, line_style
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
    lengths = [len(line.split()) for line in test_set.source]
    data = pd.DataFrame(
        {
            "run": run,
            "shortest": lengths[bucket[0]],
            "longest": lengths[bucket[-1]],
            "pairs": len(bucket),
            "bleu": _bleu(test_set, run, bucket),
        }
        for run in runs
        for bucket in buckets_of(lengths)
    )
    with drawing(6.4, 3.0) as drawn:
        axes = drawn.figure.add_subplot()
        for number, (run, curve) in enumerate(data.groupby("run", sort=False)):
            names = [
                f"{low}–{high}" if low != high else f"{low}"
                for low, high in zip(curve["shortest"], curve["longest"], strict=True)
            ]
            style = line_style(number, markers=True)
            axes.plot(range(len(names)), curve["bleu"], label=legend_label(str(run)), **style)
            axes.set_xticks(range(len(names)), names)
        axes.set_xlabel("words in the source sentence")
        axes.set_ylabel("corpus BLEU")
        axes.legend(loc="best")
    return Figure(
        name=f"bleu_by_length_{test_set.task}",
        title=f"BLEU by sentence length, {test_set.task}",
        caption=f"On {test_set.corpus}, {len(test_set.source):,} pairs; "
        f"outputs of {', '.join(runs)}.",
        svg=drawn.svg,
        data=data.assign(bleu=data["bleu"].map("{:.2f}".format)),
    )


def buckets_of(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Lines, from short to long, in at most BUCKETS parts of about equal size; equal lengths stay
    together."""
    order = sorted(range(len(lengths)), key=lambda line: (lengths[line], line))
    size = -(-len(order) // BUCKETS)
    bucket: list[int] = []
    for _, same in groupby(order, key=lengths.__getitem__):
        bucket += same
        if len(bucket) >= size:
            yield bucket
            bucket = []
    if bucket:
        yield bucket


def _bleu(test_set: TranslatedSet, run: str, lines: Sequence[int]) -> float:
    hypotheses = [test_set.hypotheses[run][line] for line in lines]
    references = [test_set.reference[line] for line in lines]
    return float(text_bleu(test_set.form).corpus_score(hypotheses, [references]).score)
