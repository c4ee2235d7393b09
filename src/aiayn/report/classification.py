"""Sentence classification: accuracy, means over folds, confusion matrices and attention."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import pandas as pd

from aiayn.config import Config
from aiayn.evaluation.label_metrics import LABEL_METRICS
from aiayn.evaluation.significance import Difference
from aiayn.paper.others import CROSS_VALIDATED
from aiayn.report.attention_figures import attention_figure
from aiayn.report.cells import scores_table
from aiayn.report.drawing import drawing, heat_map
from aiayn.report.evidence import Evidence, Scores, tested_fold
from aiayn.report.section import Figure
from aiayn.report.tables import Cell, RowValues, Table, numbers, p_value, row, signed, table, text
from aiayn.results import paths
from aiayn.results.frames import scores_frame
from aiayn.results.illustrations import read_attention
from aiayn.results.scores import DECIMALS, SplitScores

ACCURACY, BASELINE, *_ = LABEL_METRICS
PROTOCOL = (
    "The encoder of the paper, the mean of its output over a sentence, and one linear layer. "
    "Accuracy is shown with its exact 95% interval. Bag of words: a logistic regression on which "
    "words occur in a sentence, trained on the same text. Calibration error: the mean difference, "
    "in 15 bins of predicted probability, between that probability and the share of correct "
    "labels."
)


def tables(evidence: Evidence) -> Iterator[Table]:
    """Means over folds, and all scores; none where the scale has no classifier."""

    def difference(_: str, scored: SplitScores) -> str:
        accuracy, baseline = (scored.scores[name].value for name in (ACCURACY.name, BASELINE.name))
        return signed(accuracy - baseline)

    yield from cross_validated(evidence.config, evidence.scores_of("classification"))
    yield from scores_table(
        evidence,
        "classification",
        f"Classification at the scale {evidence.config.scale}",
        (PROTOCOL,),
        key="labels",
        of="Sentences",
        further={f"{ACCURACY.label} − {BASELINE.label}": difference},
    )


def figures(evidence: Evidence) -> Iterator[Figure]:
    """Confusion matrices, and the attention maps of the first run that has some.

    Raises:
        DataError: attention maps of a run are damaged.
    """
    labelled = evidence.scores_of("classification")
    yield from _confusions(labelled)
    for run in labelled:
        path = paths.attention(evidence.root / paths.outputs(run))
        if path.exists() and evidence.is_current(run):
            maps = read_attention(path, ("encoder",))
            yield attention_figure(maps, "encoder", f"attention_{run.replace('.', '_')}")
            return


def _confusions(labelled: Scores) -> Iterator[Figure]:
    """One for each set of labels, since folds share theirs: of the first run that was tested."""
    shown: set[tuple[str, ...]] = set()
    for run, splits in labelled.items():
        test = (splits or {}).get(paths.TEST)
        if test is None or tuple(test.confusion) in shown:
            continue
        labels = list(test.confusion)
        shown.add(tuple(labels))
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
            f"Labels: {', '.join(labels)}.",
            svg=_matrix(list(test.confusion.values()), labels),
            data=confusion,
        )


def _matrix(counts: Sequence[Mapping[str, int]], labels: Sequence[str]) -> str:
    side = 1.2 + 0.5 * len(labels)
    with drawing(max(3.2, side + 0.6), max(2.4, side)) as drawn:
        axes = drawn.figure.add_subplot()
        shares = ([row[label] / (sum(row.values()) or 1) for label in labels] for row in counts)
        heat_map(axes, list(shares))
        for y, x in product(range(len(labels)), repeat=2):
            axes.text(x + 0.5, y + 0.5, f"{counts[y][labels[x]]}", ha="center", va="center", size=8)
        middles = [number + 0.5 for number in range(len(labels))]
        axes.set_xticks(middles, labels)
        axes.set_yticks(middles, labels)
        axes.set_xlabel("predicted")
        axes.set_ylabel("expected")
    return drawn.svg


FOLDS_NOTE = (
    "The mean over the folds that have been run, each tested on sentences it was not trained on, "
    "and the standard deviation over folds. Published figures use no vectors that were "
    "pre-trained on other text; their folds differ. The difference of two models is tested on "
    "their common folds: Student's paired t with Nadeau and Bengio's correction (2003), because "
    "the training sets of folds overlap."
)


def cross_validated(config: Config, labelled: Scores) -> Iterator[Table]:
    """A table for each text that is divided into folds."""
    tested = {task: found for task in config.tasks if (found := tested_fold(config, task))}
    for published in CROSS_VALIDATED:
        folds = {
            task: fold
            for task, (downloads, fold) in tested.items()
            if downloads == {published[0].download}
        }
        if not folds:
            continue
        scores = scores_frame(config, labelled)
        scores = scores[(scores["split"] == paths.TEST) & scores["task"].isin(list(folds))]
        scores = scores.assign(
            fold=scores["task"].map({task: fold.fold for task, fold in folds.items()})
        )
        # several seeds of a fold count by their mean
        by_fold = scores.pivot_table("value", ["model", "fold"], "metric", sort=False)
        models = {
            str(model): of_model.droplevel("model")
            for model, of_model in by_fold.groupby("model", sort=False)
        }
        share = 1 / max(len(config.task(task).text.train) for task in folds)
        number_of_folds = next(iter(folds.values())).of
        yield table(
            f"{published[0].text}: means over folds",
            text("Model", "Figures")
            + numbers("Folds", "Accuracy", "Std. dev.", "Bag of words", form=".2f"),
            [
                *(
                    row(
                        Cell(figure.system, detail=figure.source), "published", "10",
                        figure.value.text, None, None, tone="published",
                    )
                    for figure in published
                ),
                *(_our_row(name, found, number_of_folds) for name, found in models.items()),
            ],
            (FOLDS_NOTE, *_tests(models, share)),
            key="cross-validation",
        )  # fmt: skip


def _our_row(model: str, folds: pd.DataFrame, number_of_folds: int) -> RowValues:
    accuracy = folds[ACCURACY.name]
    deviation = float(accuracy.std()) if len(folds) > 1 else None
    means = float(accuracy.mean()), deviation, float(folds[BASELINE.name].mean())
    return row(model, "ours", f"{len(folds)} of {number_of_folds}", *means, tone="ours")


def _tests(models: Mapping[str, pd.DataFrame], share: float) -> Iterator[str]:
    for (one, folds), (other, other_folds) in combinations(models.items(), 2):
        if tested := paired_t(folds[ACCURACY.name], other_folds[ACCURACY.name], share):
            count, p = tested.degrees + 1, p_value(tested.p_different())
            yield f"{one} − {other}: {signed(tested.value)} over {count:g} folds, p = {p}."


def paired_t(one: pd.Series[float], other: pd.Series[float], share: float) -> Difference | None:
    """The mean difference over common folds; None where these are fewer than two, or all the same.

    Args:
        one: accuracy by fold, in percent, and `other` of another model.
        share: of tested to trained sentences.
    Source: Nadeau and Bengio 2003: the variance of k differences is multiplied by 1/k + `share`.
    """
    # rounded as the scores are, or equal differences would be unequal by rounding
    differences = (one - other).dropna().round(DECIMALS)
    if differences.nunique() < 2:
        return None
    error = math.sqrt(differences.var() * (1 / len(differences) + share))
    return Difference(float(differences.mean()), error, len(differences) - 1)
