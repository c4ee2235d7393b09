"""The parts of the report in the order in which the page shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiayn.errors import ConfigError
from aiayn.report import (
    by_length,
    costs,
    model_figures,
    table_1,
    table_2,
    table_3,
    table_4,
    training,
)
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.tables import csv_text, latex, markdown
from aiayn.typed import nearest

SECTIONS: Mapping[str, Callable[[Evidence], Section]] = {
    "table_1": table_1.section,
    "table_2": table_2.section,
    "table_3": table_3.section,
    "table_4": table_4.section,
    "costs": costs.section,
    "training": training.section,
    "model": model_figures.section,
    "length": by_length.section,
}


def make_section(key: str, evidence: Evidence) -> Section:
    """One section. Raises ConfigError with the nearest key if there is none of that name."""
    if key not in SECTIONS:
        raise ConfigError(f"the report has no section {key!r}.{nearest(key, SECTIONS)}")
    return SECTIONS[key](evidence)


def files(section: Section) -> dict[str, str]:
    """What a section leaves beside the page: text by path below reports/."""
    texts: dict[str, str] = {}
    if section.tables:
        texts |= {
            f"tables/{section.key}.md": markdown(section.tables),
            f"tables/{section.key}.tex": latex(section.tables),
            f"tables/{section.key}.csv": csv_text(section.records),
        }
    for figure in section.figures:
        texts[f"figures/{figure.name}.svg"] = figure.svg
        texts[f"figures/{figure.name}.csv"] = csv_text(figure.records)
    return texts
