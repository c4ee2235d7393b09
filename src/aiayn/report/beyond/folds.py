"""Means over the folds of a cross-validation, beside what others published on the same text."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from aiayn.config import Config
from aiayn.paper.others import CROSS_VALIDATED, CrossValidated
from aiayn.report.evidence import tested_fold
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table, signed
from aiayn.results import places
from aiayn.results.scores import DECIMALS, SplitScores

Scored = Mapping[str, Mapping[str, SplitScores]]
NOTE = (
    "A mean over folds that have been run, each tested on sentences it was not trained on, and the "
    "deviation of one fold from it. Published figures are without vectors that were trained on "
    "other text; their folds are others. A difference of two models is tested on the folds that "
    "both have: Student's paired t with Nadeau and Bengio's correction (2003), because the "
    "training sets of folds overlap."
)


@dataclass(frozen=True)
class Folds:
    """A model's test accuracy by fold, in percent; how many folds there are in all, and of how
    many sentences to train on one is tested."""

    by_fold: Mapping[int, float]
    of: int
    share: float


def cross_validated(config: Config, scored: Scored) -> Iterator[Table]:
    """One table for each text that is divided into folds; none where no task has any."""
    for published in CROSS_VALIDATED:
        tasks = _tasks(config, published)
        if not tasks:
            continue
        models = _models(config, scored, tasks)
        yield Table(
            f"{published[0].text}: means over folds",
            ("Model", "Figures", "Folds", "Accuracy", "Deviation", "Bag of words"),
            "llrrrr",
            (*map(_published, published), *(_ours(*item) for item in models.items())),
            (("", NOTE), *(("", line) for line in _tests(models))),
            key="cross-validation",
        )


def paired_t(one: Folds, other: Folds) -> tuple[float, float, int] | None:
    """The mean difference over common folds, its p-value, and how many folds; None below two, or
    where all differ alike.

    Source: Nadeau and Bengio 2003: the variance of k differences is multiplied by 1/k + the share
    of tested to trained sentences.
    """
    from scipy.stats import t

    common = sorted(one.by_fold.keys() & other.by_fold.keys())
    # rounded as the scores are, or equal ones would part by rounding
    differences = [round(one.by_fold[n] - other.by_fold[n], DECIMALS) for n in common]
    if len(differences) < 2 or not (variance := statistics.variance(differences)):
        return None
    mean = statistics.mean(differences)
    error = math.sqrt(variance * (1 / len(differences) + one.share))
    return mean, float(2 * t.sf(abs(mean) / error, len(differences) - 1)), len(differences)


def _tasks(config: Config, published: tuple[CrossValidated, ...]) -> dict[str, tuple[int, int]]:
    """Of every task that tests one fold of the text: which, of how many."""
    tested = {task: tested_fold(config, task) for task in config.tasks}
    return {
        task: (of_text[1].fold, of_text[1].of)
        for task, of_text in tested.items()
        if of_text and of_text[0] == {published[0].download}
    }


def _models(
    config: Config, scored: Scored, tasks: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[Folds, Folds]]:
    """By model: its own folds, and the bag of words' on the same; a fold of several seeds counts by
    their mean. `tasks` as of `_tasks`.
    """
    ours: dict[str, tuple[dict[int, list[float]], dict[int, list[float]]]] = {}
    for run, splits in scored.items():
        described = config.run(run)
        if described.task in tasks and places.TEST in splits:
            fold, held = tasks[described.task][0], splits[places.TEST].scores
            of_model, of_words = ours.setdefault(described.model, ({}, {}))
            of_model.setdefault(fold, []).append(held["accuracy"].value)
            of_words.setdefault(fold, []).append(held["bag_of_words_accuracy"].value)
    if not ours:
        return {}
    of = next(iter(tasks.values()))[1]
    trained = max(len(config.task(name).text.train) for name in tasks)
    mine_and_words = {
        model: [{fold: statistics.mean(found) for fold, found in side.items()} for side in sides]
        for model, sides in ours.items()
    }
    return {
        model: (Folds(mine, of, 1 / trained), Folds(words, of, 1 / trained))
        for model, (mine, words) in mine_and_words.items()
    }


def _published(figure: CrossValidated) -> Row:
    cells = (Cell(figure.system, detail=figure.source), Cell("published"), Cell("10"))
    return Row((*cells, Cell(figure.value.text), Cell(EMPTY), Cell(EMPTY)), "published")


def _ours(model: str, folds: tuple[Folds, Folds]) -> Row:
    own, words = folds
    values = list(own.by_fold.values())
    deviation = f"{statistics.stdev(values):.2f}" if len(values) > 1 else EMPTY
    return Row(
        (
            Cell(model),
            Cell("ours"),
            Cell(f"{len(values)} of {own.of}"),
            Cell(f"{statistics.mean(values):.2f}"),
            Cell(deviation),
            Cell(f"{statistics.mean(words.by_fold.values()):.2f}"),
        ),
        "ours",
    )


def _tests(models: Mapping[str, tuple[Folds, Folds]]) -> Iterator[str]:
    for (one, (folds, _)), (other, (others, _)) in combinations(models.items(), 2):
        if tested := paired_t(folds, others):
            mean, p_value, count = tested
            yield f"{one} − {other}: {signed(mean)} over {count} folds, p = {p_value:.3f}."
