"""Sentences of each translation task's test set with every run's output (table 4 draws trees)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from aiayn.report.evidence import Evidence, leading_runs, runs_of
from aiayn.results import paths
from aiayn.results.text import RAW, read_parallel

SENTENCES = 4  # evenly spaced ones
EXTREMES = 3  # worst, and as many best


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


class Words(NamedTuple):
    """Consecutive words that a hypothesis shares with the reference, adds to it, or misses."""

    text: str
    mark: Literal["same", "added", "missing"]


@dataclass(frozen=True)
class Hypothesis:
    """The output of one or more runs, compared with the reference; chrF in percent."""

    runs: tuple[str, ...]
    words: tuple[Words, ...]
    is_reference: bool
    chrf: float


@dataclass(frozen=True)
class Example:
    """Line `number` (from 1) of the test set, with the hypotheses of the leading and of other runs;
    equal hypotheses are one."""

    number: int
    source: str
    reference: str
    leading: tuple[Hypothesis, ...]
    variations: tuple[Hypothesis, ...]


Groups = Mapping[str, tuple[Example, ...]]
"""Examples of a test set, by heading."""


def examples(evidence: Evidence) -> Iterator[tuple[TranslatedSet, Groups]]:
    """Of every translation task whose test set is there; see `read_test_sets`."""
    for test_set in read_test_sets(evidence):
        leading = leading_runs(evidence.config, test_set.task)
        yield test_set, choose_examples(test_set, leading)


def read_test_sets(evidence: Evidence) -> Iterator[TranslatedSet]:
    """Of every translation task with a test set in data/text; runs without outputs are left out.

    Raises:
        DataError: a file is empty or not UTF-8, or has not as many lines as the source.
    """
    config = evidence.config
    for name, task in config.tasks.items():
        folder = evidence.root / paths.text(name)
        source, target = (paths.lines(folder, paths.TEST, side) for side in paths.SIDES)
        if task.kind != "translation" or not (source.exists() and target.exists()):
            continue
        outputs = {run: evidence.hypotheses(run, paths.TEST) for run in runs_of(config, name)}
        files = {run: path for run, path in outputs.items() if path}
        sources, references, *hypotheses = read_parallel(source, target, *files.values())
        yield TranslatedSet(
            task=name,
            source_language=task.text.source,
            target_language=task.text.target,
            corpus=task.text.tests[paths.TEST],
            form=task.text.form or RAW,
            source=sources,
            reference=references,
            hypotheses=dict(zip(files, hypotheses, strict=True)),
        )


def choose_examples(test_set: TranslatedSet, leading: Sequence[str]) -> Groups:
    """Lines spread evenly over the set, then the worst and the best of the first run with outputs.

    Args:
        leading: runs that are shown in full; any others as variations.
    """
    groups: dict[str, Iterable[int]] = {"Evenly spaced lines": _spaced(len(test_set.source))}
    if test_set.hypotheses:
        judge, lines = next(iter(test_set.hypotheses.items()))
        scores = [_chrf(h, r) for h, r in zip(lines, test_set.reference, strict=True)]
        order = sorted(range(len(scores)), key=scores.__getitem__)
        # many sentences may be perfect: the longest say most
        best = sorted(order, key=lambda n: (-scores[n], -len(test_set.reference[n]), n))
        groups[f"Worst of {judge}"] = order[:EXTREMES]
        groups[f"Best of {judge}, the longest first"] = best[:EXTREMES]
    return {
        title: tuple(_example(test_set, number, leading) for number in numbers)
        for title, numbers in groups.items()
    }


def word_differences(reference: str, hypothesis: str) -> Iterator[Words]:
    """The words of both in order, missing ones before added ones."""
    expected, words = reference.split(), hypothesis.split()
    matcher = SequenceMatcher(None, expected, words, autojunk=False)
    for kind, r_begin, r_end, h_begin, h_end in matcher.get_opcodes():
        if kind == "equal":
            yield Words(" ".join(words[h_begin:h_end]), "same")
            continue
        if r_begin < r_end:
            yield Words(" ".join(expected[r_begin:r_end]), "missing")
        if h_begin < h_end:
            yield Words(" ".join(words[h_begin:h_end]), "added")


def _example(test_set: TranslatedSet, number: int, leading: Sequence[str]) -> Example:
    reference = test_set.reference[number]
    outputs = {run: lines[number] for run, lines in test_set.hypotheses.items()}
    in_full = {run: text for run, text in outputs.items() if run in leading}
    variations = {run: text for run, text in outputs.items() if run not in leading}
    return Example(
        number=number + 1,
        source=test_set.source[number],
        reference=reference,
        leading=tuple(_hypotheses(in_full, reference)),
        variations=tuple(_hypotheses(variations, reference)),
    )


def _hypotheses(outputs: Mapping[str, str], reference: str) -> Iterator[Hypothesis]:
    for text in dict.fromkeys(outputs.values()):
        yield Hypothesis(
            runs=tuple(run for run, other in outputs.items() if other == text),
            words=tuple(word_differences(reference, text)),
            is_reference=text == reference,
            chrf=_chrf(text, reference),
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
