"""Sentences that are labelled by self-attention alone: how many rightly, which ones, how surely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from aiayn.config import Config
from aiayn.evaluation.label_metrics import LABEL_METRICS
from aiayn.report.beyond.folds import cross_validated
from aiayn.report.beyond.labelled_sentences import sentence_tables
from aiayn.report.beyond.part import Part, record
from aiayn.report.evidence import Evidence
from aiayn.report.parts.drawing import PALETTE, drawing
from aiayn.report.parts.score_cell import score_cell
from aiayn.report.parts.section import Figure
from aiayn.report.parts.tables import Cell, Row, Table, signed
from aiayn.report.sections.attention_figures import READING, attention_figure
from aiayn.results import places
from aiayn.results.illustrations import read_attention
from aiayn.results.scores import SplitScores

ACCURACY, BASELINE, *OTHERS = LABEL_METRICS
PROTOCOL = (
    "The encoder of the paper, the mean of its output over a sentence, and one linear layer. "
    "Beside an accuracy stands its exact 95% interval. Bag of words: a logistic regression on "
    "which words a sentence has, learned from the same training text. Calibration error: how far, "
    "in 15 bins of like probability, the share of right labels is from what the run takes it to be."
)


def part(evidence: Evidence) -> Part:
    """What every run that labels was scored, what it takes for what, and which sentences.

    Raises:
        DataError: texts, outputs or attention maps of a run are damaged, or not of each other.
    """
    config = evidence.config
    found = {
        run: splits
        for run, splits in evidence.scores.items()
        if config.task_of(run).kind == "classification"
    }
    if not found:
        return Part()
    scored = {run: splits for run, splits in found.items() if splits}
    return Part(
        tables=(
            *cross_validated(config, scored),
            Table(
                f"Labels given at the scale {config.scale}",
                (
                    "Run", "Scored on", "Sentences", ACCURACY.label, BASELINE.label, "Difference",
                    *(metric.label for metric in OTHERS),
                ),
                "llrrrr" + "r" * len(OTHERS),
                tuple(row for run in found for row in _rows(run, found[run])),
                (("", PROTOCOL),),
                key="labels",
            ),
            *sentence_tables(config, evidence.root),
        ),
        records=tuple(_records(config, scored)),
        figures=(*_confusions(scored), *_attention(evidence, found)),
    )  # fmt: skip


def _rows(run: str, splits: Mapping[str, SplitScores] | None) -> Iterator[Row]:
    if not splits:
        yield Row((Cell(run), Cell("not run", tone="quiet", span=5 + len(OTHERS))))
        return
    for split, held in splits.items():
        scores = held.scores
        difference = scores[ACCURACY.name].value - scores[BASELINE.name].value
        yield Row(
            (
                Cell(run),
                Cell(" + ".join(held.test_set.corpora), detail=split),
                Cell(f"{held.test_set.pairs:,}"),
                score_cell(scores[ACCURACY.name], run),
                score_cell(scores[BASELINE.name], run),
                Cell(signed(difference)),
                *(score_cell(scores.get(metric.name), run) for metric in OTHERS),
            )
        )


def _records(
    config: Config, scored: Mapping[str, Mapping[str, SplitScores]]
) -> Iterator[dict[str, str]]:
    for run, splits in scored.items():
        for split, held in splits.items():
            for measure, score in held.scores.items():
                numbers = {"value": score.value, "low": score.low, "high": score.high}
                yield record("labels", config, run, split, held) | {
                    "measure": measure,
                    **{name: f"{n:.2f}" for name, n in numbers.items() if n is not None},
                }


def _confusions(scored: Mapping[str, Mapping[str, SplitScores]]) -> Iterator[Figure]:
    """One for each set of labels, as all folds share theirs: of the first run with a test set."""
    shown: set[tuple[str, ...]] = set()
    for run, splits in scored.items():
        if places.TEST not in splits or tuple(splits[places.TEST].confusion) in shown:
            continue
        confusion = splits[places.TEST].confusion
        shown.add(tuple(confusion))
        yield Figure(
            name=f"confusion_{run.replace('.', '_')}",
            title="Which label is taken for which",
            caption=f"{run} on its test set: a row is the label that is wanted, a column the one "
            "that is given, a cell how many sentences; the shade is their share of the row. "
            f"Labels: {', '.join(confusion)}.",
            svg=_matrix(confusion),
            data=pd.DataFrame(
                {"run": run, "wanted": wanted, "given": given, "sentences": count}
                for wanted, row in confusion.items()
                for given, count in row.items()
            ),
        )


def _attention(evidence: Evidence, runs: Iterable[str]) -> Iterator[Figure]:
    """Of the first run that has drawn what it looks at in a sentence."""
    for run in runs:
        path = places.attention(evidence.root / places.outputs(run))
        if path.exists():
            found = read_attention(path, ("encoder",))
            yield attention_figure(
                found,
                "encoder",
                name=f"attention_{run.replace('.', '_')}",
                title="What the heads look at in a sentence that is labelled",
                caption=f"{run} reading “{found.sentence}”, which it labels {found.translation}. "
                f"{READING}",
            )
            return


def _matrix(confusion: Mapping[str, Mapping[str, int]]) -> str:
    labels: Sequence[str] = list(confusion)
    side = 1.2 + 0.5 * len(labels)
    with drawing(max(3.2, side + 0.6), max(2.4, side)) as drawn:
        axes = drawn.figure.add_subplot()
        for row, wanted in enumerate(labels):
            total = sum(confusion[wanted].values()) or 1
            for column, given in enumerate(labels):
                count = confusion[wanted][given]
                axes.fill_between(
                    [column, column + 1], row, row + 1,
                    facecolor=PALETTE[0], alpha=0.75 * count / total, linewidth=0,
                )  # fmt: skip
                axes.text(column + 0.5, row + 0.5, f"{count}", ha="center", va="center", size=8)
        middles = [place + 0.5 for place in range(len(labels))]
        axes.set_xticks(middles, labels)
        axes.set_yticks(middles, labels)
        axes.set_xlim(0, len(labels))
        axes.set_ylim(len(labels), 0)
        axes.grid(visible=False)
        axes.set_xlabel("given")
        axes.set_ylabel("wanted")
    return drawn.svg
