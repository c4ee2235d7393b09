"""The section of what the paper does not have: the same stages, other uses."""

from __future__ import annotations

from collections.abc import Callable

from aiayn.report.beyond import copying, labels
from aiayn.report.beyond.part import Part
from aiayn.report.evidence import Evidence
from aiayn.report.parts.section import Section

USES: tuple[Callable[[Evidence], Part], ...] = (copying.part, labels.part)


def section(evidence: Evidence) -> Section:
    """All uses that the scale has, one after the other."""
    parts = [use(evidence) for use in USES]
    return Section(
        key="beyond",
        title="Beyond the paper",
        subtitle="the same graph, other uses",
        lead="What the paper does not have, through the same stages. Nothing here is held against "
        "it, or counted among its figures.",
        tables=tuple(table for part in parts for table in part.tables),
        records=[record for part in parts for record in part.records],
        figures=tuple(figure for part in parts for figure in part.figures),
    )
