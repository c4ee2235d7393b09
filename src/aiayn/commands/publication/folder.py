"""What a reproduction's folder tells of what was run and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.config import PARAMS, read_yaml
from aiayn.report.findings.statements import NOT_TESTED
from aiayn.results import circumstances, comparison, places, scores
from aiayn.results.circumstances import TrainCircumstances
from aiayn.results.comparison import Finding
from aiayn.results.json_files import if_there
from aiayn.results.lock import Lock
from aiayn.results.scores import Score


@dataclass(frozen=True)
class Result:
    """A run's first score on a test set, as text; `corpora` is what the set is made of, `interval`
    empty where there is none."""

    run: str
    split: str
    corpora: str
    pairs: str
    measure: str
    value: str
    interval: str


def stages(folder: Path) -> dict[str, Any]:
    """What dvc.lock records of the tasks and runs in params.yaml, and of the graph's single stages.

    The lock of a clone in which another scale ran before has that one's stages too.

    Raises:
        ConfigError, DataError: params.yaml or dvc.lock is damaged.
    """
    params = read_yaml((folder / PARAMS).read_bytes())
    items = {"", *(params.get("tasks") or {}), *(params.get("runs") or {})}
    locked = Lock(folder / places.LOCK).stages
    return {name: entry for name, entry in locked.items() if name.partition("@")[2] in items}


def trainings(folder: Path) -> list[TrainCircumstances]:
    """Every training, by its end.

    Raises:
        DataError: a record is damaged.
    """
    files = sorted((folder / places.CIRCUMSTANCES).glob("*.train.json"))
    return sorted(map(circumstances.read_train, files), key=lambda held: held.ended)


def results(folder: Path) -> Iterator[Result]:
    """Of each run by name, and of each of its test sets.

    Raises:
        ScoreError: a record is damaged.
    """
    for file in sorted((folder / places.SCORES).glob("*.json")):
        held = scores.read(file)
        for split, scored in held.splits.items():
            if split == places.DEV or not scored.scores:
                continue
            measure, score = next(iter(scored.scores.items()))
            corpora, pairs = " + ".join(scored.test_set.corpora), f"{scored.test_set.pairs:,}"
            texts = (measure, f"{score.value:.2f}", _interval(score))
            yield Result(held.run, split, corpora, pairs, *texts)


def findings(folder: Path) -> dict[str, Finding]:
    """Of the paper's statements those that were tested, by key.

    Raises:
        ScoreError: the comparison is damaged.
    """
    return {key: held for key, held in _compared(folder).items() if held != NOT_TESTED}


def verdicts(folder: Path) -> str:
    """How many of the paper's statements came out in which way; empty where nothing was compared.

    Raises:
        ScoreError: the comparison is damaged.
    """
    told = Counter(finding.verdict for finding in _compared(folder).values())
    return ", ".join(f"{count} {verdict}" for verdict, count in told.items())


def _compared(folder: Path) -> Mapping[str, Finding]:
    compared = if_there(comparison.read, folder / places.TABLE_3)
    return compared.findings if compared else {}


def _interval(score: Score) -> str:
    low, high = score.low, score.high
    return "" if low is None or high is None else f"{low:.2f} to {high:.2f}"
