"""The part of the page that a cell links to as its source."""

from __future__ import annotations

import hashlib
from pathlib import Path

from aiayn.report.provenance import link, measurements
from aiayn.report.section import Section
from aiayn.report.tables import Cell, row, table, text
from aiayn.report.verdict import Entry, Verdict

RUNS = ("en-de.base",)
SCORED = Cell("27.30", sources=("en-de.base.json:test.bleu.value",), run="en-de.base")
COUNTED = Cell("2.00", sources=("layers.json:term.n.value",), run="profile_layers")
FOUND = Cell("63.1", sources=("models.json:base.parameters",))


def section() -> Section:
    shown = table("t", text("a", "b", "c"), [row("plain", SCORED, COUNTED)])
    entry = Entry(what="w", paper="65", ours=FOUND, verdict=Verdict.DIFFERS)
    unjudged = Entry(what="w", paper="65", ours=None, verdict=Verdict.NOT_RUN)
    return Section(
        key="k", title="T", subtitle="s", lead="l", tables=(shown,),
        entries=(entry, unjudged),
    )  # fmt: skip


def test_a_cell_links_to_its_run_or_else_to_its_file() -> None:
    assert link(SCORED, RUNS) == "#run-en-de.base"
    assert link(COUNTED, RUNS) == "#file-layers.json"
    assert link(FOUND, RUNS) == "#file-models.json"


def test_measured_files_are_listed_with_their_stage(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles/layers.json").write_bytes(b"{}")
    layers, models = measurements(tmp_path, [section()], RUNS)
    assert (layers.file, layers.stage) == ("layers.json", "profile_layers")
    assert layers.sha256 == hashlib.sha256(b"{}").hexdigest()
    assert (models.file, models.sha256) == ("models.json", "not there")
