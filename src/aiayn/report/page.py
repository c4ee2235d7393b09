"""The page and its companion of circumstances: templates filled, everything from data escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.report.comparison import Comparison, tally
from aiayn.report.drawing import INK, PAPER
from aiayn.report.examples import TaskExamples
from aiayn.report.provenance import Provenance
from aiayn.report.tables import Table

TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that reports/index.html shows; the same content gives the same bytes."""

    scale: str
    source: str
    comparisons: tuple[Comparison, ...]
    tables: tuple[Table, ...]
    provenance: tuple[Provenance, ...]
    figures: Mapping[str, str]
    examples: tuple[TaskExamples, ...]


FIGURE_TITLES = {
    "training_loss.svg": "Training loss",
    "dev_perplexity.svg": "Perplexity on the development set",
    "learning_rate.svg": "Learning rate (section 5.3)",
}


def index_html(page: Page) -> str:
    """The page as one self-contained document."""
    return _render(
        "index.html",
        page=page,
        tally=list(tally(page.comparisons)),
        judged=any(item.ours for item in page.comparisons),
        scored=[item for item in page.provenance if item.splits],
        training_corpora=_distinct(item.training_corpora for item in page.provenance),
        test_corpora=_distinct(
            scored.evaluation_set.corpora
            for item in page.provenance
            for split, scored in item.splits.items()
            if split != "dev"
        ),
        figures=[(FIGURE_TITLES[name], name, inline(svg)) for name, svg in page.figures.items()],
    )


def _distinct(groups: Iterable[Iterable[str]]) -> list[str]:
    """Names in the order of their first appearance."""
    return list(dict.fromkeys(name for group in groups for name in group))


def circumstances_html(scale: str, runs: Mapping[str, Mapping[str, Mapping[str, str]]]) -> str:
    """What may differ between two identical runs: facts by run, by stage, by dotted name."""
    return _render("circumstances.html", scale=scale, runs=runs)


def inline(svg: str) -> str:
    """An SVG file as a part of the page: in the page's ink, without a background or ids.

    Element ids of two figures would clash; those that a figure refers to are digests and stay.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'(<g) id="[^"]*"', r"\1", body)
    body = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", body, count=1)
    return body.replace(INK, "currentColor").replace(PAPER, "none")


def _render(name: str, **content: Any) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name).render(content)
