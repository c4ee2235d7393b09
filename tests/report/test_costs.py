"""Parameters, FLOPs and costs over a hand-made profile of models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Config
from aiayn.report.costs import counted_costs, rounded, section
from aiayn.report.evidence import Evidence
from aiayn.report.verdict import Verdict
from aiayn.results.history import History, Line
from aiayn.results.profiles import ModelsProfile, read_models

HISTORY = History(
    (
        Line(step=10, epoch=0.5, tokens=4_000, learning_rate=1e-3, loss=6.0),
        Line(step=20, epoch=1.0, tokens=9_000, learning_rate=1e-3, loss=5.0),
    )
)


def cost(parameters: int, vocabulary: int = 37_000) -> dict[str, Any]:
    forward = {"source": 100, "target": 200}
    training = {"source": 300, "target": 600}
    return {
        "vocabulary": vocabulary, "parameters": parameters, "forward_flops": forward,
        "training_flops": training, "pair_flops": {"forward": 9000, "training": 27000},
    }  # fmt: skip


@pytest.fixture
def config(load: Callable[[dict[str, Any]], Config], toy: dict[str, Any]) -> Config:
    return load(toy)


@pytest.fixture
def models(tmp_path: Path) -> ModelsProfile:
    rows = {"base": 63_040_000, "C_N2": 33_940_000, "big": 214_171_648}
    data = {
        "sentence_pieces": 30,
        "models": {"base": {"en-de": cost(5_000, 1_000)}},
        "paper": {row: cost(parameters) for row, parameters in rows.items()},
    }
    path = tmp_path / "models.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return read_models(path)


def test_a_run_costs_its_pieces_times_the_cost_of_one(
    config: Config, models: ModelsProfile
) -> None:
    histories = {"en-de.base": HISTORY, "en-de.big": HISTORY, "en-fr.base": None}
    assert counted_costs(config, models, histories) == {"en-de.base": 9_000 * (300 + 600)}
    assert counted_costs(config, None, histories) == {}


def test_parameters_are_printed_next_to_the_papers(
    models: ModelsProfile, evidence: Callable[..., Evidence]
) -> None:
    page_section = section(evidence(models=models))
    parameters = next(table for table in page_section.tables if table.key == "parameters")
    assert [[cell.text for cell in row.cells] for row in parameters.rows] == [
        ["base", "65", "63,040,000"], ["C_N2", "36", "33,940,000"], ["big", "213", "214,171,648"],
    ]  # fmt: skip


def test_entries_are_base_and_big(models: ModelsProfile, evidence: Callable[..., Evidence]) -> None:
    found = section(evidence(models=models)).entries
    assert [(f.paper, f.ours.text if f.ours else None, f.verdict) for f in found] == [
        ("65", "63.0", Verdict.DIFFERS),
        ("213", "214.2", Verdict.DIFFERS),
    ]
    missing = section(evidence())
    assert {f.verdict for f in missing.entries} == {Verdict.NOT_RUN}
    assert missing.tables == ()
    assert missing.records.empty


def test_records_are_ours_and_the_papers(
    models: ModelsProfile, evidence: Callable[..., Evidence]
) -> None:
    page_section = section(evidence(models=models))
    assert list(page_section.records["origin"]) == ["ours", "paper", "paper", "paper"]


def test_costs_are_rounded_as_in_the_paper() -> None:
    assert rounded(3.283e18) == "3.3·10¹⁸"
    assert rounded(9.5e6) == "9.5·10⁶"
