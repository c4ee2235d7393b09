"""Table 2's cells of the Transformer, each with the run of ours that may stand beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiayn.config import Config
from aiayn.paper import Column, Paper, Printed
from aiayn.report.parts.departures import judge_run
from aiayn.report.parts.verdict import TOLERANCE_BLEU, Judgement
from aiayn.results.scores import Score, SplitScores
from aiayn.results.text import Manifest

Scores = Mapping[str, Mapping[str, SplitScores] | None]
"""Runs by name, in the order of params.yaml, with their splits; None where a run has no scores."""


@dataclass(frozen=True)
class Comparison:
    """A BLEU cell of the paper beside ours.

    `ours` (by the paper's protocol) and `sacrebleu` are there only if the cell could be judged: a
    score on other sentences, or of another model, never comes near the paper's number.
    """

    row: str
    model_name: str
    column: Column
    pair: str
    run: str
    paper: Printed
    judgement: Judgement
    ours: Score | None
    sacrebleu: Score | None


def compare(
    paper: Paper, config: Config, scores: Scores, manifests: Mapping[str, Manifest]
) -> tuple[Comparison, ...]:
    """Every cell of the paper's own models, row by row."""
    return tuple(
        _comparison(paper, row, pair, config, scores, manifests)
        for row, printed in paper.table_2.items()
        if printed.recipes
        for pair in paper.table_2_columns
    )


def _comparison(
    paper: Paper,
    row: str,
    pair: str,
    config: Config,
    scores: Scores,
    manifests: Mapping[str, Manifest],
) -> Comparison:
    printed, column, run = paper.table_2[row], paper.table_2_columns[pair], f"{pair}.{row}"
    splits = scores.get(run)
    test = splits.get("test") if splits else None
    ours = test.scores.get(column.protocol) if test else None
    judgement = judge_run(
        printed.bleu[pair].value,
        ours.value if ours else None,
        tolerance=TOLERANCE_BLEU,
        recipe=printed.recipes[pair],
        config=config,
        run=run,
        scored=test,
        manifests=manifests,
    )
    return Comparison(
        row=row,
        model_name=printed.name,
        column=column,
        pair=pair,
        run=run,
        paper=printed.bleu[pair],
        judgement=judgement,
        ours=ours if judgement.judged else None,
        sacrebleu=test.scores.get("bleu") if test and judgement.judged else None,
    )
