"""Scoring a run's hypotheses for one split by the metrics of its kind of task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from aiayn.config import Kind, Text
from aiayn.data.trees.reading import read_tree
from aiayn.data.trees.tree import Tree
from aiayn.errors import DataError
from aiayn.evaluation.accuracy import COPYING_METRICS, Copies
from aiayn.evaluation.bracket_metrics import BRACKET_METRICS, f1_by_length, read_parses
from aiayn.evaluation.label_metrics import LABEL_METRICS, LabelledSentences
from aiayn.evaluation.metric import score_by_name
from aiayn.evaluation.references import read_hypotheses, read_references
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS, Translations
from aiayn.results import paths, predictions
from aiayn.results.scores import SplitScores
from aiayn.results.text import read_lines


def score_task_split(kind: Kind, spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    """Score a run's hypotheses in the folder `outputs` against the split's references in `text`.

    Raises:
        DataError: a file is missing or damaged.
        ScoreError: hypotheses and references do not match.
    """
    return SCORERS[kind](spec, split, text, outputs)


def _score_translations(spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    references = read_references(text, split)
    translations = Translations(
        read_hypotheses(paths.hypotheses(outputs, split), references),
        references.sentences,
        spec.target,
        references.form,
    )
    return SplitScores.of(
        test_set=references.test_set, scores=score_by_name(TRANSLATION_METRICS, translations)
    )


def _score_parses(spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    references = read_references(text, split, paths.TREES)
    hypotheses = read_hypotheses(paths.hypotheses(outputs, split), references)
    parses = read_parses(hypotheses, _trees(references.path, references.sentences))
    return SplitScores.of(
        test_set=references.test_set,
        scores=score_by_name(BRACKET_METRICS, parses),
        counts={
            "sentences": len(parses.counts),
            "repaired": parses.repaired,
            "skipped": parses.skipped,
        },
        lengths=dict(f1_by_length(parses)),
    )


def _score_copies(spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    references = read_references(text, split)
    hypotheses = read_hypotheses(paths.hypotheses(outputs, split), references)
    copies = Copies(hypotheses, references.sentences)
    return SplitScores.of(
        test_set=references.test_set, scores=score_by_name(COPYING_METRICS, copies)
    )


def _score_labels(spec: Text, split: str, text: Path, outputs: Path) -> SplitScores:
    references, labels = read_references(text, split), spec.labels or ()
    path = paths.hypotheses(outputs, split)
    read_hypotheses(path, references)  # checks the number of lines
    sentences, expected = (read_lines(paths.lines(text, paths.TRAIN, side)) for side in paths.SIDES)
    labelled = LabelledSentences(
        predictions=predictions.read(path, labels),
        expected=references.sentences,
        labels=labels,
        sentences=read_lines(paths.lines(text, split, "source")),
        train=(sentences, expected),
    )
    return SplitScores.of(
        test_set=references.test_set,
        scores=score_by_name(LABEL_METRICS, labelled),
        confusion=labelled.confusion(),
    )


def _trees(path: Path, lines: tuple[str, ...]) -> list[Tree]:
    try:
        return [read_tree(line, f"{path}, line {n}") for n, line in enumerate(lines, start=1)]
    except DataError as error:
        raise DataError(
            f"{error} Make the text again: dvc repro -f download@{path.parent.name}."
        ) from error


SCORERS: Mapping[Kind, Callable[[Text, str, Path, Path], SplitScores]] = {
    "translation": _score_translations,
    "parsing": _score_parses,
    "copying": _score_copies,
    "classification": _score_labels,
}
