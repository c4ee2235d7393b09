"""A run's training curve: history/RUN.csv. No times: the same training gives the same bytes."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.results.json_files import read_bytes
from aiayn.validation import nearest

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Line:
    """A step that was recorded: how often the data has been seen, the real target pieces so far,
    the learning rate, and the label-smoothed loss since the line before, in nats a piece.

    Where the model was validated also the plain loss on the dev set, and its perplexity: per piece,
    end symbol counted (section 6.2).
    """

    step: int
    epoch: float
    tokens: int
    learning_rate: float
    loss: float
    dev_loss: float | None = None
    dev_perplexity: float | None = None


COLUMNS = tuple(field.name for field in fields(Line))
_WHOLE = frozenset({"step", "tokens"})
_OPTIONAL = frozenset({"dev_loss", "dev_perplexity"})


@dataclass(frozen=True)
class History:
    """A training curve; `dev_` columns hold the validated steps alone."""

    lines: tuple[Line, ...]

    @property
    def step(self) -> tuple[int, ...]:
        return tuple(line.step for line in self.lines)

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(line.tokens for line in self.lines)

    @property
    def learning_rate(self) -> tuple[float, ...]:
        return tuple(line.learning_rate for line in self.lines)

    @property
    def loss(self) -> tuple[float, ...]:
        return tuple(line.loss for line in self.lines)

    @property
    def dev_step(self) -> tuple[int, ...]:
        return tuple(line.step for line in self.lines if line.dev_perplexity is not None)

    @property
    def dev_perplexity(self) -> tuple[float, ...]:
        held = (line.dev_perplexity for line in self.lines)
        return tuple(perplexity for perplexity in held if perplexity is not None)


def content(history: History) -> str:
    """As it stands in the file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(astuple, history.lines))  # None becomes an empty cell
    return text.getvalue()


def write(path: Path, history: History) -> None:
    """Write a training curve."""
    write_atomically(path, content(history))


def read(path: Path) -> History:
    """A training curve.

    Raises:
        DataError: the file is missing, a column is missing or unknown, or a cell is no number.
    """
    content = read_bytes(path, _complaint)
    try:
        text = content.decode()
        # the reader wants line ends as they are
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (ValueError, csv.Error) as error:
        raise _complaint(path, f"not CSV ({error}).") from error
    heads = lines[0] if lines else []
    for head in heads:
        if head not in COLUMNS:
            raise _complaint(path, f"{head!r} is not a column.{nearest(head, COLUMNS)}")
    for column in COLUMNS:
        if heads.count(column) != 1:
            raise _complaint(path, f"the column {column} is missing, or there twice.")
    return History(
        tuple(_line(heads, cells, number, path) for number, cells in enumerate(lines[1:], start=2))
    )


def last_perplexity(history: History, path: Path) -> float:
    """The dev perplexity of the last checkpoint: of the last step, where every training validates.

    Raises:
        DataError: the last line of what stood at `path` has none.
    """
    perplexity = history.lines[-1].dev_perplexity if history.lines else None
    if perplexity is None:
        raise _complaint(path, "the last line has no dev_perplexity.")
    return perplexity


def _line(heads: list[str], cells: list[str], number: int, path: Path) -> Line:
    if len(cells) != len(heads):
        raise _complaint(path, f"line {number} has {len(cells)} cells, not {len(heads)}.")
    row: dict[str, str] = dict(zip(heads, cells, strict=True))
    return Line(**_numbers(row, number, path))


def _numbers(row: Mapping[str, str], number: int, path: Path) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for column, text in row.items():
        if not text and column in _OPTIONAL:
            continue
        try:
            value = int(text) if column in _WHOLE else float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise _complaint(path, f"line {number}: {column} is {text!r}, not a number.")
        values[column] = value
    return values


def _complaint(path: Path, what: str) -> DataError:
    return DataError(f"{path}: {what} Make it again: dvc repro -f train@{path.stem}.")
