"""One page with the paper's four tables and the findings, each from the scale that has run it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from aiayn.config import PARAMS, Kind
from aiayn.errors import ConfigError
from aiayn.report.evidence import Evidence, gather
from aiayn.report.page import make_section, render
from aiayn.report.provenance import link
from aiayn.report.section import Section
from aiayn.report.tables import Cell
from aiayn.results import paths

# with the kind of task whose runs fill it; table 1 and its models need no run
PARTS: Mapping[str, Kind | None] = {
    "table_1": None, "table_2": "translation", "table_3": "translation", "table_4": "parsing",
    "findings": "translation",
}  # fmt: skip


class Part(NamedTuple):
    """A section, the scale from which it comes and the path to that scale's own report; None if it
    was not rendered there."""

    section: Section
    scale: str
    runs: frozenset[str]
    report: str | None

    def link(self, cell: Cell) -> str | None:
        """To the place in the scale's report that accounts for a cell; None without a report."""
        return None if self.report is None else self.report + link(cell, self.runs)


def tables_html(folders: Sequence[Path], page: Path) -> str:
    """The page that will stand at `page`, as a self-contained document.

    Args:
        folders: of scales, or published reproductions. Each table is that of the first one that has
            figures for it, or of the first one that has runs for it.
    Raises:
        ConfigError: one is no folder with a params.yaml, or its params.yaml is wrong.
        ScoreError, DataError, ProfileError: a result is not what it should be.
    """
    scales = []
    for folder in folders:
        if not (folder / PARAMS).exists():
            raise ConfigError(f"{folder / PARAMS} does not exist. Name scales that have run here.")
        scales.append(gather(folder))
    return render(
        "paper_tables.html",
        parts={key: _part(key, scales, page) for key in PARTS},
        scales=[scale.config.scale for scale in scales],
        source=scales[0].paper.source,
    )


def _part(key: str, scales: Sequence[Evidence], page: Path) -> Part:
    made = [(make_section(key, scale), scale) for scale in scales]
    section, scale = max(made, key=lambda one: (_measured(one[0]), _planned(key, one[1])))
    report = scale.root / paths.REPORT_PAGE
    path = quote(os.path.relpath(report, page.parent)) if report.exists() else None
    return Part(section, scale.config.scale, frozenset(scale.config.runs), path)


def _measured(section: Section) -> bool:
    rows = (row for table in section.tables for row in table.rows)
    return any(cell.sources for row in rows for cell in row.cells)


def _planned(key: str, scale: Evidence) -> bool:
    return any(scale.config.task_of(run).kind == PARTS[key] for run in scale.config.runs)
