"""A run's hypotheses for one split, scored by the kind of its task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from aiayn.config import Kind, Text
from aiayn.data.trees.reading import read_tree
from aiayn.data.trees.tree import Tree
from aiayn.errors import DataError
from aiayn.evaluation.accuracy import accuracy
from aiayn.evaluation.bag_of_words import bag_of_words_accuracy
from aiayn.evaluation.bleu import score_split
from aiayn.evaluation.brackets import score_brackets
from aiayn.evaluation.labels import score_labels
from aiayn.evaluation.references import read_hypotheses, read_references
from aiayn.results import guesses, places
from aiayn.results.scores import SplitScores
from aiayn.results.text import read_lines


def score_task_split(kind: Kind, spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    """Score a run's hypotheses in the folder `outputs` against the split's references in `text`.

    Raises:
        DataError: a file is missing or damaged.
        ScoreError: the two do not belong together.
    """
    return SCORERS[kind](spec, split, text, outputs)


def _translations(spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    references = read_references(text, split)
    hypotheses = read_hypotheses(places.hypotheses(outputs, split), references)
    return SplitScores(
        test_set=references.test_set,
        scores=score_split(hypotheses, references.sentences, spec.target, references.form),
    )


def _parses(spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    references = read_references(text, split, places.TREES)
    hypotheses = read_hypotheses(places.hypotheses(outputs, split), references)
    found = score_brackets(hypotheses, _trees(references.path, references.sentences))
    return SplitScores(
        test_set=references.test_set,
        scores=found.scores,
        counts=found.counts,
        lengths=found.lengths,
    )


def _copies(spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    references = read_references(text, split)
    hypotheses = read_hypotheses(places.hypotheses(outputs, split), references)
    found = accuracy(hypotheses, references.sentences)
    return SplitScores(test_set=references.test_set, scores={"accuracy": found})


def _labels(spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    """Beside the run's scores that of a bag of words, learned from the same training text."""
    references, labels = read_references(text, split), spec.labels or ()
    path = places.hypotheses(outputs, split)
    read_hypotheses(path, references)
    found = score_labels(guesses.read(path, labels), references.sentences, labels)
    train = [read_lines(places.lines(text, places.TRAIN, side)) for side in places.SIDES]
    sentences = read_lines(places.lines(text, split, "source"))
    baseline = bag_of_words_accuracy((train[0], train[1]), sentences, references.sentences)
    return SplitScores(
        test_set=references.test_set,
        scores={**found.scores, "bag_of_words_accuracy": baseline},
        confusion=found.confusion,
    )


def _trees(path: Path, lines: tuple[str, ...]) -> list[Tree]:
    try:
        return [read_tree(line, f"{path}, line {n}") for n, line in enumerate(lines, start=1)]
    except DataError as error:
        raise DataError(
            f"{error} Make the text again: dvc repro -f download@{path.parent.name}."
        ) from error


SCORERS: Mapping[Kind, Callable[[Text, str, Path, Path], SplitScores]] = {
    "translation": _translations,
    "parsing": _parses,
    "copying": _copies,
    "classification": _labels,
}
