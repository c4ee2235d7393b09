"""Scores and verdicts as cells of tables and lines of CSV files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from aiayn.config import Kind
from aiayn.evaluation.metric import Metric
from aiayn.evaluation.metrics import METRICS
from aiayn.report.evidence import Evidence
from aiayn.report.tables import NOTHING, Cell, Table, Value, not_run, numbers, row, table, text
from aiayn.report.verdict import Entry
from aiayn.results.scores import Score, SplitScores


def score_cell(score: Score | None, run: str) -> Cell:
    """A score with its interval, if it has one; a dash where the run has no such score."""
    if score is None:
        return NOTHING
    detail, sources = "", [f"{score.source}.value"]
    if score.low is not None and score.high is not None:
        detail = f"{score.low:.2f}–{score.high:.2f}"
        sources += [f"{score.source}.low", f"{score.source}.high"]
    return Cell(f"{score.value:.2f}", detail=detail, sources=tuple(sources), run=run)


def judged_cell(entry: Entry) -> Cell:
    """Ours in the colour of its verdict; a dash where there is none."""
    return replace(entry.ours, tone=entry.verdict.name.lower()) if entry.ours else NOTHING


def our_cell(
    evidence: Evidence, entry: Entry | None, run: str, metrics: Sequence[Metric[Any]]
) -> Cell:
    """A test score in a table of the paper's: with its verdict; in grey, with the set that it is
    measured on, where it cannot be judged; a dash where there is none.

    Args:
        metrics: the paper's, then those that are shown where it is missing.
    """
    if run in evidence.unfinished:
        return Cell("not run", detail=evidence.unfinished[run], tone="quiet")
    if entry and entry.ours:
        found = judged_cell(entry)
        return replace(found, detail=entry.verdict.value, sources=found.sources[:1])
    scored = evidence.scored(run)
    for number, metric in enumerate(metrics):
        if scored and (score := scored.scores.get(metric.name)):
            how = f"{metric.label}, on " if number else "on "
            return replace(
                score_cell(score, run),
                detail=how + " + ".join(scored.test_set.corpora),
                sources=(f"{score.source}.value",),
                tone="quiet",
            )
    return NOTHING


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


def scores_table(
    evidence: Evidence,
    kind: Kind,
    title: str,
    notes: Iterable[str],
    *,
    key: str,
    of: str = "Pairs",
    further: Mapping[str, Callable[[str, SplitScores], Value]],
) -> Iterator[Table]:
    """All scores of a kind of task, a row for each set that was scored; nothing where none was.

    Args:
        of: what was scored, as a heading.
        further: more columns, by heading: of a run's scores on a set.
    """
    scores = evidence.scores_of(kind)
    sets = [
        (run, split, scored)
        for run, splits in scores.items()
        for split, scored in (splits or {}).items()
    ]
    if not sets:
        return
    used = {name for _, _, scored in sets for name in scored.scores}
    metrics = [metric for metric in METRICS[kind] if metric.name in used]
    yield table(
        title,
        text("Run", "Scored on") + numbers(of, *(metric.label for metric in metrics), *further),
        (
            row(
                run,
                Cell(" + ".join(scored.test_set.corpora), detail=split),
                scored.test_set.pairs,
                *(score_cell(scored.scores.get(metric.name), run) for metric in metrics),
                *(value(run, scored) for value in further.values()),
            )
            for run, split, scored in sets
        ),
        (*not_run(scores, evidence.unfinished), *notes),
        key=key,
    )
