"""The test sentences that a run is surest and least sure of, labelled rightly and wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from aiayn.config import Config
from aiayn.errors import DataError
from aiayn.report.parts.tables import Cell, Row, Table
from aiayn.results import guesses, places
from aiayn.results.guesses import Guess
from aiayn.results.text import read_lines

EACH = 2  # sentences of each sort
WIDEST = 300  # characters of a sentence that are shown


class Labelled(NamedTuple):
    """A test sentence: its line, from 1, the label wanted and the one given."""

    line: int
    sentence: str
    wanted: str
    guess: Guess

    @property
    def is_right(self) -> bool:
        """Whether the label given is the wanted one."""
        return self.wanted == self.guess.label


def sentence_tables(config: Config, root: Path) -> Iterator[Table]:
    """One for each task's first run that has labelled its test set; of tasks whose labels are the
    same, as those of folds, the first.

    Raises:
        DataError: a file is damaged, or sentences, labels and guesses are not as many.
    """
    shown: set[tuple[str, ...]] = set()
    for run, described in config.runs.items():
        labels = config.task(described.task).text.labels
        text = root / places.text(described.task)
        output = places.hypotheses(root / places.outputs(run), places.TEST)
        if labels is None or labels in shown or not output.exists() or not text.exists():
            continue
        shown.add(labels)
        sources, wanted = (
            read_lines(places.lines(text, places.TEST, side)) for side in places.SIDES
        )
        found = guesses.read(output, labels)
        if not len(sources) == len(wanted) == len(found):
            raise DataError(
                f"{output} has {len(found)} lines, and the test set of {described.task} "
                f"{len(sources)}. Make them again: dvc repro decode@{run}."
            )
        numbers = range(1, len(found) + 1)
        yield _table(run, list(map(Labelled, numbers, sources, wanted, found)))


def _table(run: str, held: list[Labelled]) -> Table:
    by_surety = sorted(held, key=lambda one: (-one.guess.probability, one.line))
    rows = []
    for sort, is_right in (("right", True), ("wrong", False)):
        of_sort = [one for one in by_surety if one.is_right is is_right]
        surest, least = of_sort[:EACH], of_sort[EACH:][-EACH:]
        for how, part in (("surest", surest), ("least sure", least)):
            rows += [_row(f"{how}, {sort}", one) for one in part]
    return Table(
        f"What {run} is sure of",
        ("Sort", "Line", "Sentence", "Wanted", "Given", "Probability"),
        "lrlllr",
        tuple(rows),
        (("", "Sentences of the test set; the probability is the run's, of the label it gives."),),
        key=f"sentences-{run}",
    )


def _row(sort: str, one: Labelled) -> Row:
    number, sentence, wanted, guess = one
    shown = sentence if len(sentence) <= WIDEST else f"{sentence[:WIDEST]}…"
    cells = (sort, f"{number}", shown, wanted, guess.label, f"{guess.probability:.3f}")
    return Row(tuple(map(Cell, cells)))
