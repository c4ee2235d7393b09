"""What others published on the sentences that our runs were scored on, ours beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from aiayn.config import Text
from aiayn.paper.corpora import EvaluationSet
from aiayn.paper.others import PUBLISHED, Published
from aiayn.report.evidence import Evidence
from aiayn.report.parts.tables import (
    EMPTY,
    Cell,
    RowValues,
    Table,
    numbers,
    row,
    signed,
    table,
    text,
)
from aiayn.results.frames import over_seeds, scores_frame

NOTE = (
    "The same sentences and the same metric, not the same recipe. The interval reflects the "
    "choice of sentences (95 %, bootstrap), not of the seed; of a model with several seeds, the "
    "mean follows with its standard deviation. Section 6.3 reports that the Transformer beats "
    "grammar-based parsers trained on the same treebank; the GENIA figures test that here."
)
MEASURES = {
    "lowercased_bleu": "BLEU, lower-cased words",
    "bracket_f1_wrapped": "F1, sentences bracketed",
}


def published(evidence: Evidence) -> Iterator[Table]:
    """One table, of the figures on sentences that a task here has; none where no task has any."""
    scores = scores_frame(evidence.config, evidence.scores)
    rows = [line for figure in PUBLISHED for line in _rows(figure, evidence, scores)]
    if rows:
        yield table(
            "Published on the same sentences",
            text("System", "Published", "Ours") + numbers("Difference") + text("Run"),
            rows,
            (NOTE,),
            key="published",
        )


def _rows(figure: Published, evidence: Evidence, scores: pd.DataFrame) -> Iterator[RowValues]:
    """A row for each run with the same score and for each mean over seeds, or one that says that
    there is none."""
    tasks = {
        name: split
        for name, task in evidence.config.tasks.items()
        if task.text.target == figure.target
        and (split := _split(task.text, figure.sentences)) is not None
    }
    comparable = scores[
        (scores["metric"] == figure.score) & (scores["pairs"] == figure.sentences.pairs)
    ]
    for task, split in tasks.items():
        ours = comparable[(comparable["task"] == task) & (comparable["split"] == split)]
        for score in ours.to_dict("records"):
            yield _row(figure, score["run"], _score(score), score["value"])
        for mean in over_seeds(ours).query("n > 1").to_dict("records"):
            cell = Cell(f"{mean['mean']:.2f}", detail=f"± {mean['sd']:.2f}")
            yield _row(figure, f"{task}.{mean['model']}, {mean['n']} seeds", cell, mean["mean"])
    if tasks and comparable[comparable["task"].isin(list(tasks))].empty:
        yield _row(figure, "", Cell(EMPTY, detail="not run at this scale", tone="quiet"), None)


def _split(text: Text, sentences: EvaluationSet) -> str | None:
    """Which split of a task these sentences are."""
    for split, corpora in {"dev": text.dev, **text.tests}.items():
        if (corpora,) == sentences.corpora:
            return split
    return None


def _score(score: Mapping[Any, Any]) -> Cell:
    names = ["value"]
    bounds = ""
    if pd.notna(score["low"]):
        names += ["low", "high"]
        bounds = f"{score['low']:.2f} to {score['high']:.2f}"
    sources = tuple(f"{score['source']}.{name}" for name in names)
    return Cell(f"{score['value']:.2f}", detail=bounds, sources=sources, run=score["run"])


def _row(figure: Published, run: str, ours: Cell, value: float | None) -> RowValues:
    return row(
        Cell(figure.system, detail=figure.source),
        Cell(figure.value.text, detail=MEASURES[figure.score]),
        ours,
        "" if value is None else signed(value - figure.value.value),
        run,
        tone="ours",
    )
