"""Means over the folds of a cross-validation, beside what others published on the same text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations

import pandas as pd

from aiayn.config import Config
from aiayn.evaluation.label_metrics import LABEL_METRICS
from aiayn.paper.others import CROSS_VALIDATED
from aiayn.report.evidence import tested_fold
from aiayn.report.parts.tables import Cell, RowValues, Table, numbers, row, signed, table, text
from aiayn.results import places
from aiayn.results.frames import scores_frame
from aiayn.results.scores import DECIMALS, SplitScores

ACCURACY, BASELINE = (metric.name for metric in LABEL_METRICS[:2])
NOTE = (
    "The mean over the folds that have been run, each tested on sentences it was not trained on, "
    "and the standard deviation over folds. Published figures use no vectors that were "
    "pre-trained on other text; their folds differ. The difference of two models is tested on "
    "their common folds: Student's paired t with Nadeau and Bengio's correction (2003), because "
    "the training sets of folds overlap."
)


def cross_validated(
    config: Config, labelled: Mapping[str, Mapping[str, SplitScores] | None]
) -> Iterator[Table]:
    """One table for each text that is divided into folds; none where no task has any."""
    for published in CROSS_VALIDATED:
        fold_of_task, number_of_folds = {}, 0
        for task in config.tasks:
            downloads, folds = tested_fold(config, task) or (frozenset(), None)
            if folds and downloads == {published[0].download}:
                fold_of_task[task], number_of_folds = folds.fold, folds.of
        if not fold_of_task:
            continue
        scores = scores_frame(config, labelled)
        scores = scores[(scores["split"] == places.TEST) & scores["task"].isin(list(fold_of_task))]
        scores = scores.assign(fold=scores["task"].map(fold_of_task))
        # several seeds of a fold count by their mean
        by_fold = scores.pivot_table("value", ["model", "fold"], "metric", sort=False)
        models = {
            str(model): folds.droplevel("model")
            for model, folds in by_fold.groupby("model", sort=False)
        }
        share = 1 / max(len(config.task(task).text.train) for task in fold_of_task)
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
                *(_our_row(model, folds, number_of_folds) for model, folds in models.items()),
            ],
            (NOTE, *_tests(models, share)),
            key="cross-validation",
        )  # fmt: skip


def _our_row(model: str, folds: pd.DataFrame, number_of_folds: int) -> RowValues:
    accuracy, baseline = folds[ACCURACY], folds[BASELINE]
    deviation = float(accuracy.std()) if len(folds) > 1 else None
    return row(
        model,
        "ours",
        f"{len(folds)} of {number_of_folds}",
        float(accuracy.mean()),
        deviation,
        float(baseline.mean()),
        tone="ours",
    )


def _tests(models: Mapping[str, pd.DataFrame], share: float) -> Iterator[str]:
    for (one, folds), (other, other_folds) in combinations(models.items(), 2):
        if tested := paired_t(folds[ACCURACY], other_folds[ACCURACY], share):
            mean, p_value, count = tested
            yield f"{one} − {other}: {signed(mean)} over {count} folds, p = {p_value:.3f}."


def paired_t(
    one: pd.Series[float], other: pd.Series[float], share: float
) -> tuple[float, float, int] | None:
    """The mean difference over common folds, its p-value, and how many folds; None where these
    are fewer than two, or all the same.

    Args:
        one: accuracy by fold, in percent, and `other` of another model.
        share: of tested to trained sentences.
    Source: Nadeau and Bengio 2003: the variance of k differences is multiplied by 1/k + `share`.
    """
    from scipy.stats import t

    # rounded as the scores are, or equal differences would be unequal by rounding
    differences = (one - other).dropna().round(DECIMALS)
    if differences.nunique() < 2:
        return None
    mean = float(differences.mean())
    error = math.sqrt(differences.var() * (1 / len(differences) + share))
    return mean, float(2 * t.sf(abs(mean) / error, len(differences) - 1)), len(differences)
