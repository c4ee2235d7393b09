"""Sentences of each translation task's test set with what every run made of them.

Trees are no text to read side by side: table 4 draws some (report/table_4/parse_trees.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiayn.config import Config
from aiayn.errors import DataError
from aiayn.report.evidence import runs_of
from aiayn.report.page.word_differences import Words, differences
from aiayn.results import places
from aiayn.results.text import RAW, read_lines

SENTENCES = 4  # evenly spaced ones
EXTREMES = 3  # worst, and as many best


@dataclass(frozen=True)
class Hypothesis:
    """What one or more runs made of a sentence, compared with the reference; chrF in percent."""

    runs: tuple[str, ...]
    words: tuple[Words, ...]
    is_reference: bool
    chrf: float


@dataclass(frozen=True)
class Example:
    """Line `number` (from 1) of the test set; equal hypotheses share an entry."""

    number: int
    source: str
    reference: str
    leading: tuple[Hypothesis, ...]
    variations: tuple[Hypothesis, ...]


@dataclass(frozen=True)
class TranslatedSet:
    """A task's test set with its runs' hypotheses, line by line; `form` as in the manifest."""

    task: str
    source_language: str
    target_language: str
    corpus: str
    form: str
    source: Sequence[str]
    reference: Sequence[str]
    hypotheses: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class TaskExamples:
    """Examples under headings; `judge` is the run by whose chrF worst and best were chosen."""

    test_set: TranslatedSet
    judge: str
    groups: Mapping[str, tuple[Example, ...]]


def read_test_sets(config: Config, root: Path) -> Iterator[TranslatedSet]:
    """Of every translation task with a test set in data/text; runs without outputs are left out.

    Raises:
        DataError: a file is empty or not UTF-8, or has not as many lines as the source.
    """
    for name, task in config.tasks.items():
        if task.kind != "translation":
            continue
        path, target = (
            places.lines(root / places.text(name), places.TEST, side) for side in places.SIDES
        )
        if not (path.exists() and target.exists()):
            continue
        source, reference = read_lines(path), read_lines(target)
        files = {
            run: places.hypotheses(root / places.outputs(run), places.TEST)
            for run in runs_of(config, name)
        }
        outputs = {run: read_lines(file) for run, file in files.items() if file.exists()}
        for side, lines in {"reference": reference, **outputs}.items():
            if len(lines) != len(source):
                raise DataError(
                    f"{path} has {len(source)} lines and the {side} has {len(lines)}. "
                    f"Make both again: dvc repro."
                )
        yield TranslatedSet(
            task=name,
            source_language=task.text.source,
            target_language=task.text.target,
            corpus=task.text.tests["test"],
            form=task.text.form or RAW,
            source=source,
            reference=reference,
            hypotheses=outputs,
        )


def choose_examples(test_set: TranslatedSet, leading: Sequence[str]) -> TaskExamples:
    """Lines spread evenly over the set, then the worst and the best of the first run with outputs.

    Args:
        leading: runs that are shown in full; any others as variations.
    """
    judge = next(iter(test_set.hypotheses), "")
    groups = {"Evenly spaced lines": list(_spaced(len(test_set.source)))}
    if judge:
        lines = test_set.hypotheses[judge]
        scores = [_chrf(h, r) for h, r in zip(lines, test_set.reference, strict=True)]
        order = sorted(range(len(scores)), key=scores.__getitem__)
        # many sentences may be perfect: the longest tell most
        best = sorted(order, key=lambda n: (-scores[n], -len(test_set.reference[n]), n))
        groups[f"Worst of {judge}"] = order[:EXTREMES]
        groups[f"Best of {judge}, the longest first"] = best[:EXTREMES]
    return TaskExamples(
        test_set,
        judge,
        {
            title: tuple(_example(test_set, number, leading) for number in numbers)
            for title, numbers in groups.items()
        },
    )


def _example(test_set: TranslatedSet, number: int, leading: Sequence[str]) -> Example:
    reference = test_set.reference[number]
    said = {run: lines[number] for run, lines in test_set.hypotheses.items()}
    in_full = {run: text for run, text in said.items() if run in leading}
    variations = {run: text for run, text in said.items() if run not in leading}
    return Example(
        number=number + 1,
        source=test_set.source[number],
        reference=reference,
        leading=tuple(_hypotheses(in_full, reference)),
        variations=tuple(_hypotheses(variations, reference)),
    )


def _hypotheses(said: Mapping[str, str], reference: str) -> Iterator[Hypothesis]:
    for text in dict.fromkeys(said.values()):
        runs = tuple(run for run, other in said.items() if other == text)
        yield Hypothesis(
            runs, differences(reference, text), text == reference, _chrf(text, reference)
        )


def _chrf(hypothesis: str, reference: str) -> float:
    """Sentence chrF2 (Popović 2015), 0 to 100, with sacreBLEU's defaults."""
    from sacrebleu.metrics.chrf import CHRF

    score: float = CHRF().sentence_score(hypothesis, [reference]).score
    return score


def _spaced(count: int) -> Iterator[int]:
    """The middle of each of SENTENCES equal parts, or every line of a smaller set."""
    parts = min(count, SENTENCES)
    return ((2 * part + 1) * count // (2 * parts) for part in range(parts))
