"""What others published on the sentences that our runs were scored on, ours beside it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from aiayn.config import Text
from aiayn.paper.corpora import EvaluationSet
from aiayn.paper.others import PUBLISHED, Published
from aiayn.report.evidence import Evidence
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table, signed
from aiayn.results.scores import Score

NOTE = (
    "The same sentences and the same measure, not the same recipe. The interval is that of the "
    "choice of sentences (95 %, bootstrap), not of the seed; of several seeds of a model, the mean "
    "stands below them with their standard deviation. Section 6.3 has the Transformer beat "
    "grammar-based parsers trained on the same treebank; the GENIA figures ask that here."
)
MEASURES = {
    "lowercased_bleu": "BLEU, lower-cased words",
    "bracket_f1_wrapped": "F1, sentences bracketed",
}


def published(evidence: Evidence) -> Iterator[Table]:
    """One table, of the figures on sentences that a task here has; none where no task has any."""
    rows = [row for figure in PUBLISHED for row in _rows(figure, evidence)]
    if rows:
        yield Table(
            "Published on the same sentences",
            ("System", "Published", "Ours", "Difference", "Run"),
            "lllrl",
            tuple(rows),
            (("", NOTE),),
            key="published",
        )


def _rows(figure: Published, evidence: Evidence) -> Iterator[Row]:
    """A line for each run that was scored so and for each mean, or one that says that none was."""
    config, is_asked, is_scored = evidence.config, False, False
    for name, task in config.tasks.items():
        split = _split(task.text, figure.sentences)
        if split is None or task.text.target != figure.target:
            continue
        is_asked = True
        seeds: dict[str, dict[int, float]] = {}  # of two runs that do the same, the first
        for run, described in config.runs.items():
            if described.task != name:
                continue
            scored = (evidence.scores[run] or {}).get(split)
            ours = scored.scores.get(figure.score) if scored else None
            if scored and ours and scored.test_set.pairs == figure.sentences.pairs:
                is_scored = True
                seeds.setdefault(described.model, {}).setdefault(described.seed, ours.value)
                yield _row(figure, run, _score(ours, run), ours.value)
        for model, by_seed in seeds.items():
            if len(by_seed) > 1:
                values = list(by_seed.values())
                of = f"{name}.{model}, {len(values)} seeds"
                yield _row(figure, of, _over_seeds(values), statistics.mean(values))
    if is_asked and not is_scored:
        yield _row(figure, "", Cell(EMPTY, detail="not run at this scale", tone="quiet"), None)


def _split(text: Text, sentences: EvaluationSet) -> str | None:
    """Which split of a task these sentences are."""
    for split, corpora in {"dev": text.dev, **text.tests}.items():
        if (corpora,) == sentences.corpora:
            return split
    return None


def _score(score: Score, run: str) -> Cell:
    bounds = "" if score.low is None else f"{score.low:.2f} to {score.high:.2f}"
    names = ("value", "low", "high")[: 3 if bounds else 1]
    sources = tuple(f"{score.source}.{name}" for name in names)
    return Cell(f"{score.value:.2f}", detail=bounds, sources=sources, run=run)


def _over_seeds(values: Sequence[float]) -> Cell:
    return Cell(f"{statistics.mean(values):.2f}", detail=f"± {statistics.stdev(values):.2f}")


def _row(figure: Published, of: str, ours: Cell, value: float | None) -> Row:
    return Row(
        (
            Cell(figure.system, detail=figure.source),
            Cell(figure.value.text, detail=MEASURES[figure.score]),
            ours,
            Cell("" if value is None else signed(value - figure.value.value)),
            Cell(of),
        ),
        "ours",
    )
