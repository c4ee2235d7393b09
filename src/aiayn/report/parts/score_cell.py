"""A score of ours as a table shows it."""

from __future__ import annotations

from aiayn.report.parts.tables import EMPTY, Cell
from aiayn.results.scores import Score


def score_cell(score: Score | None, run: str) -> Cell:
    """The score over its interval, if it has one; None: the run has no such score."""
    if score is None:
        return Cell(EMPTY, tone="quiet")
    detail, sources = "", [f"{score.source}.value"]
    if score.low is not None and score.high is not None:
        detail = f"{score.low:.2f}–{score.high:.2f}"
        sources += [f"{score.source}.low", f"{score.source}.high"]
    return Cell(f"{score.value:.2f}", detail=detail, sources=tuple(sources), run=run)
