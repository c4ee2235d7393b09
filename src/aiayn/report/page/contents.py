"""The parts of the report in the order in which the page shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiayn.errors import ConfigError
from aiayn.report.evidence import Evidence
from aiayn.report.findings import statements
from aiayn.report.parts.section import Section
from aiayn.report.parts.tables import csv_text, latex, markdown
from aiayn.report.sections import (
    beyond_paper,
    by_length,
    costs,
    learning_curves,
    model_figures,
    texts,
    why_not,
)
from aiayn.report.table_1 import layer_table
from aiayn.report.table_2 import bleu_table
from aiayn.report.table_3 import variation_table
from aiayn.report.table_4 import parsing
from aiayn.validation import nearest

SECTIONS: Mapping[str, Callable[[Evidence], Section]] = {
    "findings": statements.section,
    "table_1": layer_table.section,
    "table_2": bleu_table.section,
    "table_3": variation_table.section,
    "table_4": parsing.section,
    "costs": costs.section,
    "text": texts.section,
    "training": learning_curves.section,
    "model": model_figures.section,
    "length": by_length.section,
    "beyond": beyond_paper.section,
    "why_not": why_not.section,
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
        texts[f"figures/{figure.name}.csv"] = csv_text(figure.data)
    return texts
