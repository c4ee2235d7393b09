"""Links from each number of ours to the run or the file that it comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from aiayn.report.section import Section
from aiayn.report.tables import Cell
from aiayn.results import paths


class Measurement(NamedTuple):
    """A file of numbers that belong to no run: what a stage profile_NAME counted or measured."""

    file: str
    sha256: str
    stage: str


def measurements(
    root: Path, sections: Iterable[Section], runs: Container[str]
) -> Iterator[Measurement]:
    """The files in profiles/ that cells of no run name as their sources."""
    for name in sorted({_file(c.sources[0]) for c in _cells(sections) if c.run not in runs}):
        path = root / paths.PROFILES / name
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "not there"
        yield Measurement(name, digest, f"profile_{path.stem}")


def link(cell: Cell, runs: Container[str]) -> str:
    """To the place on the page that accounts for a cell of ours: of its run, or of its file."""
    name = f"run-{cell.run}" if cell.run in runs else f"file-{_file(cell.sources[0])}"
    return f"#{quote(name)}"


def _cells(sections: Iterable[Section]) -> Iterator[Cell]:
    """Those of ours."""
    for section in sections:
        rows = (row for table in section.tables for row in table.rows)
        cells = (*(cell for row in rows for cell in row.cells), *(f.ours for f in section.entries))
        yield from (cell for cell in cells if cell and cell.sources)


def _file(source: str) -> str:
    return PurePosixPath(source.partition(":")[0]).name
