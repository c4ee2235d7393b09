"""Predicted labels: a label and its probability, one line per sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results.json_files import file_error
from aiayn.results.text import read_lines

FORMAT = 1
DECIMALS = 6


@dataclass(frozen=True)
class Prediction:
    """The most probable label, and its probability: at least 1 / number of labels."""

    label: str
    probability: float


def lines(predictions: Iterable[Prediction]) -> list[str]:
    """The lines of the file: label and probability, separated by a tab."""
    return [
        f"{prediction.label}\t{prediction.probability:.{DECIMALS}f}" for prediction in predictions
    ]


def read(path: Path, labels: Collection[str]) -> tuple[Prediction, ...]:
    """Read a file of predictions.

    Args:
        labels: all valid labels.
    Raises:
        DataError: the file is missing, or a line is not a label with a probability.
    """
    return tuple(
        _prediction(line, n, path, labels) for n, line in enumerate(read_lines(path), start=1)
    )


def _prediction(line: str, number: int, path: Path, labels: Collection[str]) -> Prediction:
    label, _, text = line.partition("\t")
    try:
        probability = float(text)
    except ValueError:
        probability = -1.0
    if label not in labels or not 0 <= probability <= 1:
        what = f"line {number} is {line[:60]!r}, not a label and its probability."
        raise _file_error(path, what)
    return Prediction(label, probability)


_file_error = file_error(DataError, lambda path: f"decode@{path.parent.name}")
