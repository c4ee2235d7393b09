"""A run's hypotheses for one split, scored by the kind of its task."""

from __future__ import annotations

from pathlib import Path

from aiayn.config import Task
from aiayn.errors import DataError
from aiayn.records import places
from aiayn.records.scores import SplitScores
from aiayn.scoring.accuracy import accuracy
from aiayn.scoring.bleu import score_split
from aiayn.scoring.brackets import score_brackets
from aiayn.scoring.references import read_hypotheses, read_references
from aiayn.trees.reading import read_tree
from aiayn.trees.tree import Tree


def score_task_split(task: Task, split: str, text: Path, outputs: Path) -> SplitScores:
    """Score a run's hypotheses in the folder `outputs` against the split's references in `text`.

    Raises:
        DataError: a file is missing or damaged.
        ScoreError: the two do not belong together.
    """
    side = places.TREES if task.kind == "parsing" else "target"
    references = read_references(text, split, side)
    hypotheses = read_hypotheses(places.hypotheses(outputs, split), references)
    if task.kind == "parsing":
        brackets = score_brackets(hypotheses, _trees(references.path, references.sentences))
        return SplitScores(
            test_set=references.test_set,
            scores=brackets.scores,
            counts=brackets.counts,
            lengths=brackets.lengths,
        )
    if task.kind == "copying":
        found = accuracy(hypotheses, references.sentences)
        return SplitScores(test_set=references.test_set, scores={"accuracy": found})
    return SplitScores(
        test_set=references.test_set,
        scores=score_split(hypotheses, references.sentences, task.text.target, references.form),
    )


def _trees(path: Path, lines: tuple[str, ...]) -> list[Tree]:
    try:
        return [read_tree(line, f"{path}, line {n}") for n, line in enumerate(lines, start=1)]
    except DataError as error:
        raise DataError(
            f"{error} Make the text again: dvc repro -f download@{path.parent.name}."
        ) from error
