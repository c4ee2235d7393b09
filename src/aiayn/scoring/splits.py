"""A run's hypotheses for one split, scored by the kind of its task."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiayn.config import Task
from aiayn.errors import DataError, ScoreError
from aiayn.scoring.bleu import score_split
from aiayn.scoring.brackets import score_brackets
from aiayn.scoring.references import read_hypotheses, read_references
from aiayn.scoring.score import Score
from aiayn.trees.reading import read_tree
from aiayn.trees.tree import Tree


@dataclass(frozen=True)
class SplitScores:
    """Scores by name, on the set of sentences that `identity` tells.

    `counts` and `lengths`: see brackets.BracketScores; a translation has none.
    """

    identity: dict[str, Any]
    scores: dict[str, Score]
    counts: dict[str, int] = field(default_factory=dict)
    lengths: dict[str, dict[str, float | int]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As plain data for a score file; what is empty is left out."""
        extras = {"set": self.identity, "counts": self.counts, "lengths": self.lengths}
        scores = {name: score.to_json() for name, score in self.scores.items()}
        return {name: extra for name, extra in extras.items() if extra} | scores

    def values(self) -> dict[str, float | int | str]:
        """The scores' values alone, and the counts."""
        return {n: score.to_json()["value"] for n, score in self.scores.items()} | self.counts


def score_task_split(task: Task, split: str, text: Path, outputs: Path) -> SplitScores:
    """Score outputs/SPLIT.hypotheses against the split's references in `text`.

    Raises:
        ScoreError: a file is missing or damaged, or the two do not belong together.
    """
    side = "trees" if task.kind == "parsing" else "target"
    references = read_references(text, split, side)
    hypotheses = read_hypotheses(outputs / f"{split}.hypotheses", references)
    if task.kind == "parsing":
        found = score_brackets(hypotheses, _trees(references.path, references.sentences))
        return SplitScores(references.identity, found.scores, found.counts, found.lengths)
    return SplitScores(
        references.identity, score_split(hypotheses, references.sentences, task.text.target)
    )


def _trees(path: Path, lines: tuple[str, ...]) -> list[Tree]:
    try:
        return [read_tree(line, f"{path}, line {n}") for n, line in enumerate(lines, start=1)]
    except DataError as error:
        raise ScoreError(
            f"{error} Make the text again: dvc repro -f download@{path.parent.name}."
        ) from error
