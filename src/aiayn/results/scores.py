"""A run's scores: scores/RUN.json, and its main metrics: metrics/RUN.json."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from operator import not_
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PlainSerializer

from aiayn.errors import ScoreError
from aiayn.results import paths
from aiayn.results.json_files import JsonFile, Sourced, file_error, plain, with_sources, write_json
from aiayn.results.text import Part, Split
from aiayn.validation import StrictModel

FORMAT = 2
DECIMALS = 2

Percent = Annotated[float, PlainSerializer(partial(round, ndigits=DECIMALS))]  # in the file


class TestSet(StrictModel):
    """The sentences that were scored, as in the text's manifest."""

    __test__ = False  # pytest collects by name

    corpora: Mapping[str, Part]
    pairs: int
    sha256: Mapping[str, str]

    @classmethod
    def of(cls, split: Split) -> TestSet:
        """The identification of a split of the manifest."""
        return cls(corpora=split.corpora, pairs=split.pairs, sha256=split.sha256)


class Rounded(StrictModel):
    """A record whose percentages are rounded in the file."""

    def rounded(self) -> Self:
        """As read from the file."""
        return self.model_validate(plain(self))


class Score(Sourced, Rounded):
    """A corpus score in percent: 0 to 100, except for error rates (TER).

    `low` and `high` bound a 95% confidence interval, if one was estimated. `signature` lists
    everything that must match for two scores to be comparable, as `key:value|key:value`.
    """

    value: Percent
    signature: str
    low: Percent | None = None
    high: Percent | None = None


class LengthClass(Rounded):
    """A test set's sentences of similar length: their number, and F1 over them in percent."""

    sentences: int
    f1: Percent


class SplitScores(Rounded, extra="allow", validate_by_name=True):
    """The scores on one set of sentences. In the file, each metric is a further key.

    For trees, `counts` has the numbers of sentences scored, of outputs repaired into a tree, and of
    sentences skipped because the reference has no words or only punctuation; `lengths` has F1 by
    class of sentence length. For labels, `confusion` has, by reference label, how often each label
    was predicted.
    """

    test_set: TestSet = Field(alias="set")
    counts: Mapping[str, int] = Field(default={}, exclude_if=not_)
    lengths: Mapping[str, LengthClass] = Field(default={}, exclude_if=not_)
    confusion: Mapping[str, Mapping[str, int]] = Field(default={}, exclude_if=not_)
    __pydantic_extra__: dict[str, Score] = Field(init=False)

    @classmethod
    def of(cls, test_set: TestSet, scores: Mapping[str, Score], **others: Any) -> SplitScores:
        """From the scores by metric; `others` are further fields."""
        return cls.model_validate({"set": test_set, **others, **scores})

    @property
    def scores(self) -> Mapping[str, Score]:
        """Scores by metric."""
        return self.__pydantic_extra__


class RunScores(StrictModel):
    """All scores of a run, by split."""

    run: str
    task: str
    model: str
    splits: Mapping[str, SplitScores]


def write_metrics(path: Path, scores: RunScores, headline: str, perplexity: float) -> None:
    """Write the main metrics: the score of the metric `headline` on dev and test, and the last
    checkpoint's perplexity on dev."""
    splits = {
        name: {headline: round(scores.splits[name].scores[headline].value, DECIMALS)}
        for name in (paths.DEV, paths.TEST)
        if name in scores.splits
    }
    splits.setdefault(paths.DEV, {})["perplexity"] = round(perplexity, DECIMALS)
    write_json(path, splits, indent=2, sort_keys=True)


def read(path: Path) -> RunScores:
    """A run's scores.

    Raises:
        ScoreError: the file is missing, or is not a file of scores.
    """
    scores = _FILE.read(path)
    splits = {
        name: with_sources(split, f"{path.name}:{name}") for name, split in scores.splits.items()
    }
    return scores.replace(splits=splits)


_file_error = file_error(ScoreError, lambda path: f"score@{path.stem}")
_FILE = JsonFile(RunScores, _file_error, indent=2, sort_keys=True)
write = _FILE.write
