"""Scores and verdicts, as tables show them and as CSV files have them."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from aiayn.report.section import Entry
from aiayn.report.tables import NOTHING, Cell
from aiayn.results.scores import Score, TestSet


def score_cell(score: Score | None, run: str) -> Cell:
    """The score over its interval, if it has one; None: the run has no such score."""
    if score is None:
        return NOTHING
    detail, sources = "", [f"{score.source}.value"]
    if score.low is not None and score.high is not None:
        detail = f"{score.low:.2f}–{score.high:.2f}"
        sources += [f"{score.source}.low", f"{score.source}.high"]
    return Cell(f"{score.value:.2f}", detail=detail, sources=tuple(sources), run=run)


def test_set_cell(test_set: TestSet, split: str) -> Cell:
    """Which sentences were scored."""
    return Cell(" + ".join(test_set.corpora), detail=split)


def verdict_cell(entry: Entry) -> Cell:
    """The verdict, and where there is none the first reason; the run's provenance has all."""
    reason = entry.reasons[0] if entry.reasons else ""
    return Cell(entry.verdict.value, detail=reason, tone=entry.verdict.name.lower())


def score_records(scores: pd.DataFrame, entries: Iterable[Entry]) -> pd.DataFrame:
    """Our scores as a CSV file has them, with verdict and difference where one was judged.

    Args:
        scores: of results.schemas.SCHEMAS["scores"].
    """
    judged = {entry.ours.sources[0]: entry for entry in entries if entry.ours}
    found = [judged.get(f"{source}.value") for source in scores["source"]]
    return scores.assign(
        origin="ours",
        measure=scores["metric"],
        **{name: two_decimals(scores[name]) for name in ("value", "low", "high")},
        verdict=[entry.verdict.value if entry else "" for entry in found],
        difference=[f"{entry.difference:+.2f}" if entry else "" for entry in found],
    )


def two_decimals(numbers: pd.Series[float]) -> pd.Series[str]:
    """As text; what is missing stays so."""
    return numbers.map("{:.2f}".format, na_action="ignore")
