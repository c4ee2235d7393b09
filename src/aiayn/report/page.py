"""The page and the page of run metadata: templates filled, everything from data escaped."""

from __future__ import annotations

import hashlib
import platform
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from aiayn.errors import ConfigError
from aiayn.report import (
    beyond_paper,
    by_length,
    costs,
    findings,
    learning_curves,
    model_figures,
    table_1,
    table_2,
    table_3,
    table_4,
    texts,
    why_not,
)
from aiayn.report.attention_figures import focused_head
from aiayn.report.drawing import INK, PAPER
from aiayn.report.evidence import Evidence
from aiayn.report.examples import examples
from aiayn.report.provenance import link, measurements
from aiayn.report.section import Section
from aiayn.report.summary import summary, verdicts
from aiayn.report.table_1_figures import wall_time
from aiayn.report.table_2 import bleu_entries
from aiayn.report.tables import csv_text, latex, markdown
from aiayn.results import machine_metadata, paths
from aiayn.results.json_files import if_there
from aiayn.results.metadata import facts, read_decode, read_profile, training_of
from aiayn.validation import nearest

# control characters, and marks that change the direction of text: as U+001B
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

TEMPLATES = Path(__file__).with_name("templates")
WIDE_POINTS = 500  # wider figures take the whole width of the page


def index_html(evidence: Evidence, sections: Sequence[Section]) -> str:
    """The page as one self-contained document; the same content gives the same bytes."""
    runs, drawn = evidence.config.runs, evidence.illustrations
    return render(
        "index.html",
        evidence=evidence,
        sections={section.key: section for section in sections},
        summary=summary(evidence, sections),
        verdicts=verdicts(sections),
        link=lambda cell: link(cell, runs),
        inline=inline,
        head=None if drawn is None else focused_head(paths.attention(drawn)),
        examples=list(examples(evidence)),
        departures={run: entry.reasons for run, entry in bleu_entries(evidence).items()},
        measurements=list(measurements(evidence.root, sections, runs)),
    )


def metadata_html(evidence: Evidence) -> str:
    """The page of what may differ between two identical runs: when, where, how fast, and from which
    code; no result reads it.

    Raises:
        DataError: a file is there but is not what it should be.
    """
    root, runs = evidence.root, evidence.config.runs
    trained = {run: training_of(root, run) for run in runs}
    decoded = {run: if_there(read_decode, root / paths.decoding_metadata(run)) for run in runs}
    layers = if_there(read_profile, root / paths.LAYERS_METADATA)
    return render(
        "run_metadata.html",
        scale=evidence.config.scale,
        rendering=rendering_facts(root),
        wall_time=wall_time(layers) if layers else None,
        runs={
            run: {
                stage: facts(found)
                for stage, found in (("train", trained[run]), ("decode", decoded[run]))
                if found
            }
            for run in runs
        },
        inline=inline,
    )


def rendering_facts(root: Path) -> Mapping[str, str]:
    """Facts about the report that is being written, by name."""
    lock = root / paths.LOCK
    lock_sha256 = hashlib.sha256(lock.read_bytes()).hexdigest() if lock.exists() else "not there"
    return {
        "rendered": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(root),
        "dvc.lock before this stage, sha256": lock_sha256,
        "machine": f"{socket.gethostname()}, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
    }


def _commit(root: Path) -> str:
    """The commit of `root`, and whether tracked files differ from it."""
    described = machine_metadata.commit(root)
    if described == machine_metadata.UNKNOWN_COMMIT:
        return "unknown: not a git repository"
    name, _, dirty = described.partition("-")
    return f"{name} ({'with uncommitted changes' if dirty else 'clean'})"


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
    """A template filled: one of the report's, or one of other folders' that may build on these.
    Control characters from data are shown by their code points."""
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["symbols"] = symbols
    page = environment.get_template(name).render(content)
    return CONTROLS.sub(lambda found: f"U+{ord(found[0]):04X}", page)


def symbols(heading: str) -> Markup:
    """d_model with a subscript, and eps as the Greek letter; all else as it is."""
    subscripts = r"<i>\1</i><sub>\2</sub>"
    greek = str(escape(heading)).replace("eps_", "ε_")
    return Markup(re.sub(r"\b(\w+?)_(\w+)\b", subscripts, greek))


SECTIONS: Mapping[str, Callable[[Evidence], Section]] = {
    "table_1": table_1.section,
    "table_2": table_2.section,
    "table_3": table_3.section,
    "table_4": table_4.section,
    "findings": findings.section,
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
