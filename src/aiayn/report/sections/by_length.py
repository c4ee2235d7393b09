"""BLEU by the length of the source sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from aiayn.config import Config
from aiayn.evaluation.translation_metrics import text_bleu
from aiayn.report.evidence import Evidence, leading_runs
from aiayn.report.page.examples import TranslatedSet, read_test_sets
from aiayn.report.parts.drawing import DASHES, PALETTE, drawing
from aiayn.report.parts.section import Figure, Section

BUCKETS = 6


@dataclass(frozen=True)
class Bucket:
    """Sentences, by line, whose sources have `shortest` to `longest` words."""

    shortest: int
    longest: int
    lines: tuple[int, ...]

    @property
    def label(self) -> str:
        """5–7, or 5."""
        if self.shortest == self.longest:
            return f"{self.shortest}"
        return f"{self.shortest}–{self.longest}"


def section(evidence: Evidence) -> Section:
    """A figure for each translation task."""
    config = evidence.config
    return Section(
        key="length",
        title="Long and short sentences",
        subtitle="BLEU by length",
        lead="Corpus BLEU of test sentences of like length: by sacreBLEU’s defaults, and over the "
        "words as they stand where lower-cased words were learned. Parts are about equally large, "
        "so that each BLEU is about equally sure.",
        tables=(),
        records=(),
        figures=tuple(
            bleu_by_length(test_set, runs)
            for test_set in read_test_sets(config, evidence.root)
            if (runs := _leading_with_outputs(config, test_set))
        ),
    )


def _leading_with_outputs(config: Config, test_set: TranslatedSet) -> list[str]:
    return [run for run in leading_runs(config, test_set.task) if run in test_set.hypotheses]


def bleu_by_length(test_set: TranslatedSet, runs: Sequence[str]) -> Figure:
    """Of `runs`, at least one, whose outputs are there."""
    buckets = list(buckets_of([len(line.split()) for line in test_set.source]))
    curves = {run: [_bleu(test_set, run, bucket) for bucket in buckets] for run in runs}
    with drawing(6.4, 3.0) as drawn:
        axes = drawn.figure.add_subplot()
        for place, (run, values) in enumerate(curves.items()):
            axes.plot(
                range(len(buckets)), values, label=run.lstrip("_"), marker="os"[place % 2],
                markersize=4, color=PALETTE[place], linestyle=DASHES[place],
            )  # fmt: skip
        axes.set_xticks(range(len(buckets)), [bucket.label for bucket in buckets])
        axes.set_xlabel("words in the source sentence")
        axes.set_ylabel("corpus BLEU")
        axes.legend(loc="best")
    return Figure(
        name=f"bleu_by_length_{test_set.task}",
        title=f"BLEU by sentence length, {test_set.task}",
        caption=f"On {test_set.corpus}, {len(test_set.source):,} pairs; "
        f"outputs of {', '.join(curves)}.",
        svg=drawn.svg,
        records=[
            {
                "run": run,
                "shortest": f"{bucket.shortest}",
                "longest": f"{bucket.longest}",
                "pairs": f"{len(bucket.lines)}",
                "bleu": f"{value:.2f}",
            }
            for run, values in curves.items()
            for bucket, value in zip(buckets, values, strict=True)
        ],
    )


def buckets_of(lengths: Sequence[int]) -> Iterator[Bucket]:
    """At most BUCKETS parts by length, about equally large; equal lengths stay together."""
    order = sorted(range(len(lengths)), key=lambda line: (lengths[line], line))
    size = -(-len(order) // BUCKETS)
    held: list[int] = []
    for _, same in groupby(order, key=lengths.__getitem__):
        held += same
        if len(held) >= size:
            yield _bucket(held, lengths)
            held = []
    if held:
        yield _bucket(held, lengths)


def _bucket(lines: Sequence[int], lengths: Sequence[int]) -> Bucket:
    return Bucket(lengths[lines[0]], lengths[lines[-1]], tuple(lines))


def _bleu(test_set: TranslatedSet, run: str, bucket: Bucket) -> float:
    hypotheses = [test_set.hypotheses[run][line] for line in bucket.lines]
    references = [test_set.reference[line] for line in bucket.lines]
    return float(text_bleu(test_set.form).corpus_score(hypotheses, [references]).score)
