"""A run's training curve: history/RUN.csv. Without times, so it is reproducible byte for byte."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.results.json_files import file_error, read_bytes
from aiayn.validation import StrictModel, message, nearest

FORMAT = 1


class Line(StrictModel):
    """A recorded step: epochs and target pieces so far (without padding), the learning rate, and
    the label-smoothed loss since the previous line, in nats per piece.

    If the step was validated: the dev set's loss without label smoothing, and its perplexity, per
    piece including the end symbol (section 6.2).
    """

    step: int
    epoch: float
    tokens: int
    learning_rate: float
    loss: float
    dev_loss: float | None = None
    dev_perplexity: float | None = None


COLUMNS = tuple(Line.model_fields)
OPTIONAL = ("dev_loss", "dev_perplexity")


@dataclass(frozen=True)
class History:
    """A training curve."""

    lines: tuple[Line, ...]


def content(history: History) -> str:
    """The content of the file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(dict, history.lines))  # None becomes an empty cell
    return text.getvalue()


def write(path: Path, history: History) -> None:
    """Write a training curve."""
    write_atomically(path, content(history))


def read(path: Path) -> History:
    """A training curve.

    Raises:
        DataError: the file is missing, a column is missing or unknown, or a cell is not a number.
    """
    try:
        text = read_bytes(path, _file_error).decode()
        # newline="": csv.reader must see the line ends of the file
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (ValueError, csv.Error) as error:
        raise _file_error(path, f"not CSV ({error}).") from error
    head = rows[0] if rows else []
    for column in head:
        if column not in COLUMNS:
            raise _file_error(path, f"{column!r} is not a column.{nearest(column, COLUMNS)}")
    for column in COLUMNS:
        if head.count(column) != 1:
            raise _file_error(path, f"the column {column} is missing or duplicated.")
    return History(
        tuple(_line(head, cells, number, path) for number, cells in enumerate(rows[1:], start=2))
    )


def last_perplexity(history: History, path: Path) -> float:
    """The dev perplexity of the last checkpoint: of the last step, which is always validated.

    Args:
        path: of the history's file, for the error message.
    Raises:
        DataError: the last line has no dev perplexity.
    """
    perplexity = history.lines[-1].dev_perplexity if history.lines else None
    if perplexity is None:
        raise _file_error(path, "the last line has no dev_perplexity.")
    return perplexity


def _line(head: list[str], cells: list[str], number: int, path: Path) -> Line:
    if len(cells) != len(head):
        raise _file_error(path, f"line {number} has {len(cells)} cells, not {len(head)}.")
    row = zip(head, cells, strict=True)
    try:
        return Line.model_validate_strings(
            {column: text for column, text in row if text or column not in OPTIONAL}, strict=False
        )
    except ValidationError as error:
        raise _file_error(path, f"line {number}: {message(error)}") from error


_file_error = file_error(DataError, lambda path: f"train@{path.stem}")
