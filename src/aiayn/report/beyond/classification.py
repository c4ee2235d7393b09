"""Sentences that are labelled by self-attention alone: accuracy, confusion, confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from aiayn.evaluation.label_metrics import LABEL_METRICS
from aiayn.report.beyond.cross_validation import cross_validated
from aiayn.report.evidence import Evidence
from aiayn.report.parts.cells import score_cell, test_set_cell
from aiayn.report.parts.drawing import PALETTE, drawing
from aiayn.report.parts.section import Figure
from aiayn.report.parts.tables import (
    RowValues,
    Table,
    Value,
    numbers,
    row,
    rows_of_runs,
    signed,
    table,
    text,
)
from aiayn.report.sections.attention_figures import READING, attention_figure
from aiayn.results import guesses, places
from aiayn.results.illustrations import read_attention
from aiayn.results.scores import SplitScores
from aiayn.results.text import read_parallel

ACCURACY, BASELINE, *OTHERS = LABEL_METRICS
PROTOCOL = (
    "The encoder of the paper, the mean of its output over a sentence, and one linear layer. "
    "Accuracy is shown with its exact 95% interval. Bag of words: a logistic regression on which "
    "words occur in a sentence, trained on the same text. Calibration error: the mean difference, "
    "in 15 bins of predicted probability, between that probability and the share of correct "
    "labels."
)
EXTREMES = 2  # sentences of each sort that are shown
WIDEST = 300  # characters of a sentence that are shown


def tables(evidence: Evidence) -> Iterator[Table]:
    """What every run that labels was scored; none where the scale has no such run.

    Raises:
        DataError: texts and outputs of a run are damaged, or do not belong together.
    """
    labelled = evidence.scores_of("classification")
    if labelled:
        yield from cross_validated(evidence.config, labelled)
        yield _scores(evidence.config.scale, labelled)
        yield from _sentences(evidence)


def figures(evidence: Evidence) -> Iterator[Figure]:
    """Confusion matrices, and the attention maps of the first run that has some.

    Raises:
        DataError: attention maps of a run are damaged.
    """
    labelled = evidence.scores_of("classification")
    yield from _confusions(labelled)
    for run in labelled:
        path = places.attention(evidence.root / places.outputs(run))
        if path.exists() and run not in evidence.outdated:
            maps = read_attention(path, ("encoder",))
            yield attention_figure(
                maps,
                "encoder",
                name=f"attention_{run.replace('.', '_')}",
                title="Encoder self-attention in a classified sentence",
                caption=f"{run} reading “{maps.sentence}”, which it labels {maps.translation}. "
                f"{READING}",
            )
            return


def _scores(scale: str, labelled: Mapping[str, Mapping[str, SplitScores] | None]) -> Table:
    def values(run: str, splits: Mapping[str, SplitScores]) -> Iterator[Sequence[Value]]:
        for split, scored in splits.items():
            scores = scored.scores
            yield (
                test_set_cell(scored.test_set, split),
                scored.test_set.pairs,
                score_cell(scores[ACCURACY.name], run),
                score_cell(scores[BASELINE.name], run),
                signed(scores[ACCURACY.name].value - scores[BASELINE.name].value),
                *(score_cell(scores.get(metric.name), run) for metric in OTHERS),
            )

    return table(
        f"Classification at the scale {scale}",
        text("Run", "Scored on")
        + numbers("Sentences", ACCURACY.label, BASELINE.label, "Difference")
        + numbers(*(metric.label for metric in OTHERS)),
        rows_of_runs(labelled, values),
        (PROTOCOL,),
        key="labels",
    )


def _sentences(evidence: Evidence) -> Iterator[Table]:
    """The most and least confident labels of the first run that has labelled its test set; of tasks
    whose labels are the same, as those of folds, the first."""
    shown: set[tuple[str, ...]] = set()
    for run, described in evidence.config.runs.items():
        labels = evidence.config.task(described.task).text.labels
        folder = evidence.root / places.text(described.task)
        output = evidence.hypotheses(run, places.TEST)
        if labels is None or labels in shown or not output or not folder.exists():
            continue
        shown.add(labels)
        sides = (places.lines(folder, places.TEST, side) for side in places.SIDES)
        sources, expected, _ = read_parallel(*sides, output)
        predictions = pd.DataFrame(map(vars, guesses.read(output, labels)))
        labelled = predictions.assign(
            line=range(1, len(sources) + 1), sentence=sources, expected=expected
        )
        yield table(
            f"Most and least confident: {run}",
            text("Group")
            + numbers("Line", form="")
            + text("Sentence", "Expected", "Predicted")
            + numbers("Probability", form=".3f"),
            _extremes(labelled.sort_values("probability", ascending=False, kind="stable")),
            ("Sentences of the test set, with the probability of the predicted label.",),
            key=f"sentences-{run}",
        )


def _extremes(by_confidence: pd.DataFrame) -> Iterator[RowValues]:
    """The most and the least confident correct and incorrect labels."""
    is_correct = by_confidence["label"] == by_confidence["expected"]
    for sort, sentences in (
        ("correct", by_confidence[is_correct]),
        ("incorrect", by_confidence[~is_correct]),
    ):
        most, rest = sentences[:EXTREMES], sentences[EXTREMES:]
        for how, part in (("most confident", most), ("least confident", rest[-EXTREMES:])):
            for one in part.to_dict("records"):
                sentence = one["sentence"]
                if len(sentence) > WIDEST:
                    sentence = f"{sentence[:WIDEST]}…"
                labels = (one["expected"], one["label"])
                yield row(f"{how}, {sort}", one["line"], sentence, *labels, one["probability"])


def _confusions(
    labelled: Mapping[str, Mapping[str, SplitScores] | None],
) -> Iterator[Figure]:
    """One for each set of labels, as all folds share theirs: of the first run with a test set."""
    shown: set[tuple[str, ...]] = set()
    for run, splits in labelled.items():
        test = (splits or {}).get(places.TEST)
        if test is None or tuple(test.confusion) in shown:
            continue
        shown.add(tuple(test.confusion))
        confusion = pd.DataFrame(
            {"run": run, "expected": expected, "predicted": given, "sentences": count}
            for expected, counts in test.confusion.items()
            for given, count in counts.items()
        )
        yield Figure(
            name=f"confusion_{run.replace('.', '_')}",
            title="Confusion matrix",
            caption=f"{run} on its test set: rows are expected labels, columns predicted ones, "
            "cells numbers of sentences; the shade is the share of the row. "
            f"Labels: {', '.join(test.confusion)}.",
            svg=_matrix(confusion, list(test.confusion)),
            data=confusion,
        )


def _matrix(confusion: pd.DataFrame, labels: Sequence[str]) -> str:
    side = 1.2 + 0.5 * len(labels)
    totals = confusion.groupby("expected")["sentences"].sum()
    with drawing(max(3.2, side + 0.6), max(2.4, side)) as drawn:
        axes = drawn.figure.add_subplot()
        for cell in confusion.to_dict("records"):
            y, x = labels.index(cell["expected"]), labels.index(cell["predicted"])
            share = cell["sentences"] / (totals[cell["expected"]] or 1)
            axes.fill_between(
                [x, x + 1], y, y + 1, facecolor=PALETTE[0], alpha=0.75 * share, linewidth=0
            )
            axes.text(x + 0.5, y + 0.5, f"{cell['sentences']}", ha="center", va="center", size=8)
        middles = [number + 0.5 for number in range(len(labels))]
        axes.set_xticks(middles, labels)
        axes.set_yticks(middles, labels)
        axes.set_xlim(0, len(labels))
        axes.set_ylim(len(labels), 0)
        axes.grid(visible=False)
        axes.set_xlabel("predicted")
        axes.set_ylabel("expected")
    return drawn.svg
