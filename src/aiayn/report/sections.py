"""The parts of the report in the order in which the page shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiayn.errors import ConfigError
from aiayn.report import by_length, model_figures, table_2, table_3, training
from aiayn.report.costs import costs
from aiayn.report.evidence import Evidence
from aiayn.report.parses import read_parses
from aiayn.report.section import Section
from aiayn.report.table_1 import table_1
from aiayn.report.table_4 import table_4
from aiayn.report.tables import csv_text, latex, markdown
from aiayn.typed import nearest

SECTIONS: Mapping[str, Callable[[Evidence], Section]] = {
    "table_1": lambda held: table_1(held.paper, held.layers),
    "table_2": table_2.section,
    "table_3": table_3.section,
    "table_4": lambda held: table_4(
        held.paper,
        held.config,
        held.scores,
        held.manifests,
        read_parses(held.config, held.root),
    ),
    "costs": lambda held: costs(held.paper, held.models),
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
