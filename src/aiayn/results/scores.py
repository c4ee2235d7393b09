"""A run's scores: scores/RUN.json, and the few that runs are compared by: metrics/RUN.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aiayn.errors import ScoreError
from aiayn.files import write_atomically
from aiayn.results import places
from aiayn.results.json_files import placed, plain, read_json, shaped
from aiayn.results.text import Part, Split

FORMAT = 2
DECIMALS = 2


@dataclass(frozen=True, kw_only=True)
class TestSet:
    """Which sentences were scored, as the text's manifest describes them."""

    __test__ = False  # pytest collects by name

    corpora: Mapping[str, Part]
    pairs: int
    sha256: Mapping[str, str]

    @classmethod
    def of(cls, split: Split) -> TestSet:
        """What identifies a split of the manifest."""
        return cls(corpora=split.corpora, pairs=split.pairs, sha256=split.sha256)


@dataclass(frozen=True, kw_only=True)
class Score:
    """A corpus score in percent: 0 to 100, unless its metric is an error rate (TER).

    `low` and `high` bound a 95% confidence interval where one was estimated. `signature` tells
    everything that must be equal before two scores may be compared, as `key:value|key:value`.
    `source` is where it stands: FILE:SPLIT.NAME.
    """

    value: float
    signature: str
    low: float | None = None
    high: float | None = None
    source: str = field(default="", compare=False)

    def rounded(self) -> Score:
        """As a file has it."""
        return replace(
            self,
            value=round(self.value, DECIMALS),
            low=None if self.low is None else round(self.low, DECIMALS),
            high=None if self.high is None else round(self.high, DECIMALS),
        )


@dataclass(frozen=True, kw_only=True)
class LengthClass:
    """The sentences of like length in a test set: how many, and the F1 over them in percent."""

    sentences: int
    f1: float

    def rounded(self) -> LengthClass:
        """As a file has it."""
        return replace(self, f1=round(self.f1, DECIMALS))


@dataclass(frozen=True, kw_only=True)
class SplitScores:
    """Scores by name on one set of sentences.

    Of trees also `counts` (sentences scored, outputs repaired into a tree, sentences skipped
    because the treebank has no word in them) and `lengths`: F1 by class of sentence length. Of
    labels also `confusion`: by wanted label, how often each label was given.
    """

    test_set: TestSet
    scores: Mapping[str, Score]
    counts: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, LengthClass] = field(default_factory=dict)
    confusion: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RunScores:
    """All that was scored of a run, by split."""

    run: str
    task: str
    model: str
    splits: Mapping[str, SplitScores]


def write(path: Path, scores: RunScores) -> None:
    """Write a run's scores."""
    splits = {name: _plain(split) for name, split in scores.splits.items()}
    _write(path, {"run": scores.run, "task": scores.task, "model": scores.model, "splits": splits})


def write_metrics(path: Path, scores: RunScores, headline: str, perplexity: float) -> None:
    """Write what runs are compared by: on dev and test the score of the metric `headline`, and the
    perplexity of the last checkpoint on dev."""
    splits = {
        name: {headline: scores.splits[name].scores[headline].rounded().value}
        for name in (places.DEV, places.TEST)
        if name in scores.splits
    }
    splits.setdefault(places.DEV, {})["perplexity"] = round(perplexity, DECIMALS)
    _write(path, splits)


def read(path: Path) -> RunScores:
    """A run's scores.

    Raises:
        ScoreError: the file is missing, or is not a file of scores.
    """
    file = shaped(_File, read_json(path, _complaint), path, _complaint)
    splits = {name: _split(entry, f"splits.{name}", path) for name, entry in file.splits.items()}
    return RunScores(
        run=file.run,
        task=file.task,
        model=file.model,
        splits={
            name: replace(split, scores=placed(split.scores, f"{path.name}:{name}"))
            for name, split in splits.items()
        },
    )


@dataclass(frozen=True, kw_only=True)
class _File:
    """A file of scores as it lies: a split's scores stand beside what is told of its sentences."""

    run: str
    task: str
    model: str
    splits: Mapping[str, Mapping[str, Any]]


_SET, _COUNTS, _LENGTHS, _CONFUSION = "set", "counts", "lengths", "confusion"


def _plain(split: SplitScores) -> dict[str, Any]:
    """As it stands in the file; no empty mapping."""
    lengths = {name: group.rounded() for name, group in split.lengths.items()}
    others = {
        _SET: split.test_set, _COUNTS: split.counts, _LENGTHS: lengths, _CONFUSION: split.confusion,
    }  # fmt: skip
    scores = {name: plain(score.rounded()) for name, score in split.scores.items()}
    return {key: plain(value) for key, value in others.items() if value} | scores


def _split(entry: Mapping[str, Any], key: str, path: Path) -> SplitScores:
    """The undoing of `_plain`."""
    if _SET not in entry:
        raise _complaint(path, f"{key}.{_SET} is missing.")

    def part(kind: Any, name: str) -> Any:
        return shaped(kind, entry.get(name, {}), path, _complaint, f"{key}.{name}")

    return SplitScores(
        test_set=part(TestSet, _SET),
        scores={
            name: part(Score, name)
            for name in entry
            if name not in (_SET, _COUNTS, _LENGTHS, _CONFUSION)
        },
        counts=part(Mapping[str, int], _COUNTS),
        lengths=part(Mapping[str, LengthClass], _LENGTHS),
        confusion=part(Mapping[str, Mapping[str, int]], _CONFUSION),
    )


def _write(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomically(path, text)


def _complaint(path: Path, what: str) -> ScoreError:
    return ScoreError(f"{path}: {what} Make it again: dvc repro -f score@{path.stem}.")
