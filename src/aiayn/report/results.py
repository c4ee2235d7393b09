"""What our own runs left behind, read back with types: scores, histories, circumstances."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiayn.errors import ScoreError
from aiayn.paper import EvaluationSet

STAGES = ("train", "decode")


@dataclass(frozen=True)
class Measured:
    """A number of ours. `source` is where it stands: the file, a colon, and the keys to it."""

    value: float
    source: str
    signature: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class LengthClass:
    """The sentences of like length in a test set: how many, and the F1 over them."""

    sentences: int
    f1: float


@dataclass(frozen=True)
class ScoredSplit:
    """Scores on one set of sentences, by name as in the score file; `sha256` by side.

    Of trees also `counts` of sentences, and `lengths`: F1 by class of sentence length.
    """

    evaluation_set: EvaluationSet
    sha256: Mapping[str, str]
    scores: Mapping[str, Measured]
    counts: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, LengthClass] = field(default_factory=dict)


def read_scores(path: Path) -> Mapping[str, ScoredSplit] | None:
    """The splits of scores/RUN.json by name; None where the run has no score file.

    Raises:
        ScoreError: the file is not a score file.
    """
    try:
        splits = json.loads(path.read_bytes(), parse_constant=_refuse)["splits"]
        return {split: _scored(entry, f"{path.name}:{split}") for split, entry in splits.items()}
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScoreError(
            f"{path}: not a score file ({type(error).__name__}: {_one_line(error)}). "
            f"Make it again: dvc repro -f score@{path.stem}."
        ) from error


def _scored(entry: Mapping[str, Any], place: str) -> ScoredSplit:
    identity = entry["set"]
    return ScoredSplit(
        evaluation_set=EvaluationSet(tuple(map(str, identity["corpora"])), int(identity["pairs"])),
        sha256={side: str(digest) for side, digest in identity["sha256"].items()},
        scores={
            name: Measured(
                value=_number(score["value"]),
                source=f"{place}.{name}",
                signature=str(score["signature"]),
                low=_number(score["low"]) if "low" in score else None,
                high=_number(score["high"]) if "high" in score else None,
            )
            for name, score in entry.items()
            if name not in ("set", "counts", "lengths")
        },
        counts={name: int(count) for name, count in entry.get("counts", {}).items()},
        lengths={
            name: LengthClass(int(group["sentences"]), _number(group["f1"]))
            for name, group in entry.get("lengths", {}).items()
        },
    )


@dataclass(frozen=True)
class History:
    """A training curve. Columns run side by side; the dev ones hold the validated steps alone.

    `tokens` are the real target pieces trained on so far.
    """

    step: tuple[int, ...]
    learning_rate: tuple[float, ...]
    loss: tuple[float, ...]
    dev_step: tuple[int, ...]
    dev_perplexity: tuple[float, ...]
    tokens: tuple[int, ...] = ()


def read_history(path: Path) -> History | None:
    """history/RUN.csv; None where the run has none.

    Raises:
        ScoreError: a column is missing, or a cell is no number.
    """
    try:
        # a csv reader opens its file without newline translation
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        validated = [row for row in rows if row["dev_perplexity"]]
        return History(
            step=tuple(int(row["step"]) for row in rows),
            tokens=tuple(int(row["tokens"]) for row in rows),
            learning_rate=tuple(float(row["learning_rate"]) for row in rows),
            loss=tuple(float(row["loss"]) for row in rows),
            dev_step=tuple(int(row["step"]) for row in validated),
            dev_perplexity=tuple(float(row["dev_perplexity"]) for row in validated),
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ScoreError(
            f"{path}: not a training history ({type(error).__name__}: {_one_line(error)}). "
            f"Make it again: dvc repro -f train@{path.stem}."
        ) from error


def read_illustration(path: Path) -> list[dict[str, str]]:
    """The lines of a table of the stage illustrate; none where it has not run.

    Raises:
        ScoreError: a line has another number of cells than the headings.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
    except FileNotFoundError:
        return []
    if any(None in line or None in line.values() for line in lines):
        raise ScoreError(f"{path}: a line is cut short. Make it again: dvc repro -f illustrate.")
    return lines


def read_circumstances(folder: Path, run: str) -> Mapping[str, Mapping[str, str]]:
    """What `folder`/RUN.STAGE.json record of each stage: text by dotted name, empty without a file.

    Every key is optional, so whatever stands there is shown.

    Raises:
        ScoreError: a file is not a JSON object.
    """
    return {stage: _facts(folder / f"{run}.{stage}.json", run, stage) for stage in STAGES}


def _facts(path: Path, run: str, stage: str) -> Mapping[str, str]:
    try:
        return _flat(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise ScoreError(
            f"{path}: not a record of circumstances ({_one_line(error)}). "
            f"Make it again: dvc repro -f {stage}@{run}."
        ) from error


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value if isinstance(value, str) else json.dumps(value)
    return flat


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a score")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
