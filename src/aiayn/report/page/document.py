"""The page and its companion of circumstances: templates filled, everything from data escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.report.evidence import Evidence, leading_runs
from aiayn.report.page.companion import Circumstances
from aiayn.report.page.examples import TaskExamples, choose_examples, read_test_sets
from aiayn.report.page.provenance import (
    Measurement,
    Provenance,
    anchor,
    measurements,
    provenance,
)
from aiayn.report.page.scoreboard import answer, aside, headline, tally, words
from aiayn.report.parts.drawing import INK, PAPER
from aiayn.report.parts.section import Section

TEMPLATES = Path(__file__).with_name("templates")
WIDE_POINTS = 500  # wider figures do not stand side by side


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that reports/index.html shows; the same content gives the same bytes."""

    scale: str
    source: str
    sections: tuple[Section, ...]
    provenance: tuple[Provenance, ...]
    measurements: tuple[Measurement, ...]
    examples: tuple[TaskExamples, ...]


def make_page(evidence: Evidence, sections: Iterable[Section]) -> Page:
    """The given sections, and what stands around them."""
    held = tuple(sections)
    return Page(
        scale=evidence.config.scale,
        source=evidence.paper.source,
        sections=held,
        measurements=tuple(measurements(evidence.root, held, evidence.config.runs)),
        provenance=tuple(provenance(evidence)),
        examples=tuple(
            choose_examples(test_set, leading_runs(evidence.config, test_set.task))
            for test_set in read_test_sets(evidence.config, evidence.root)
        ),
    )


def index_html(page: Page) -> str:
    """The page as one self-contained document."""
    runs = {item.run for item in page.provenance}
    entries = [entry for section in page.sections for entry in section.entries]
    return render(
        "index.html",
        page=page,
        answer=answer(entries, page.scale),
        aside=aside(entries),
        headline=headline(entries),
        tally=tally,
        words=words,
        entries=entries,
        anchor=lambda cell: anchor(cell, runs),
        inline=inline,
        scored=[item for item in page.provenance if item.splits],
        training_corpora=_distinct(item.training_corpora for item in page.provenance),
        test_corpora=_distinct(
            scored.test_set.corpora
            for item in page.provenance
            for split, scored in item.splits.items()
            if split != "dev"
        ),
    )


def _distinct(groups: Iterable[Iterable[str]]) -> list[str]:
    """Names in the order of their first appearance."""
    return list(dict.fromkeys(name for group in groups for name in group))


def circumstances_html(held: Circumstances) -> str:
    """The page's companion, as one self-contained document."""
    return render("circumstances.html", held=held, inline=inline)


def inline(svg: str) -> str:
    """An SVG file as a part of the page: in the page's ink, without a background or ids, and with
    its width in points for the style sheet.

    Element ids of two figures would clash; those that a figure refers to are digests and stay.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'(<g) id="[^"]*"', r"\1", body)
    size = re.compile(r'(<svg[^>]*?) width="([\d.]+)pt" height="[^"]*"')
    body = size.sub(_sized, body, count=1)
    return body.replace(INK, "currentColor").replace(PAPER, "none")


def _sized(opening: re.Match[str]) -> str:
    wide = ' class="wide"' if float(opening[2]) > WIDE_POINTS else ""
    return f'{opening[1]} style="--points: {opening[2]}"{wide}'


def render(name: str, *folders: Path, **content: Any) -> str:
    """A template filled: one of the report's, or one of other folders' that may build on these."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name).render(content)
