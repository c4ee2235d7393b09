"""CSV files of known columns, in any order."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from aiayn.files import write_atomically
from aiayn.results.json_files import FileError, read_bytes
from aiayn.validation import nearest


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """The content of a file; None becomes an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows by column."""
    write_atomically(path, csv_text(columns, rows))


def read_csv(path: Path, columns: Sequence[str], error: FileError) -> list[dict[str, str]]:
    """The rows as text by column; the first is the file's second line.

    Raises:
        the kind's error: the file is missing or not CSV, a column is missing, unknown or there
            twice, or a row has too few or too many cells.
    """
    try:
        text = read_bytes(path, error).decode()
        # the reader needs line ends as they are in the file
        head, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (ValueError, csv.Error) as cause:
        raise error(path, f"not CSV ({cause}).") from cause
    for column in head:
        if column not in columns:
            raise error(path, f"{column!r} is not a column.{nearest(column, columns)}")
    for column in columns:
        if head.count(column) != 1:
            raise error(path, f"the column {column} is missing, or there twice.")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise error(path, f"line {number} has {len(row)} cells, not {len(head)}.")
    return [dict(zip(head, row, strict=True)) for row in rows]
