from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Config
from aiayn.paper import PAPER
from aiayn.report.table_2.bleu_cells import compare
from aiayn.report.table_2.cost_figure import System, cost_figure, our_systems, printed_systems
from aiayn.results.scores import read
from aiayn.results.text import Manifest


def test_every_cell_with_a_cost_is_a_point() -> None:
    systems = list(printed_systems(PAPER))
    # table 2 prints 18 BLEU cells; ByteNet's alone has no cost
    cells = sum(len(row.bleu) for row in PAPER.table_2.values())
    assert len(systems) == cells - 1
    assert "ByteNet" not in {system.name for system in systems}
    points = {(s.name, s.pair): (s.flops, s.bleu, s.origin) for s in systems}
    assert points["GNMT + RL", "en-fr"] == (1.4e20, 39.92, "published")
    assert points["Transformer (base model)", "en-fr"] == (3.3e18, 38.1, "paper")


def test_our_systems_are_drawn_and_named_as_ours() -> None:
    printed = tuple(printed_systems(PAPER))
    ours = System(origin="ours", name="mine", pair="en-de", flops=1e18, bleu=27.0)
    without, with_ours = cost_figure(PAPER, printed), cost_figure(PAPER, (*printed, ours))
    assert ">Transformer, ours<" not in without.svg
    assert ">Transformer, ours<" in with_ours.svg
    assert ">mine<" in with_ours.svg
    assert with_ours.data["training_flops"].iloc[-1] == "1e+18"
    assert ">10¹⁹<" in without.svg


@pytest.mark.parametrize(
    ("scale", "drawn"), [("wmt14", ["Transformer (base model), ours"]), ("toy", [])]
)
def test_ours_stand_beside_the_papers_only_where_they_are_judged(
    scale: str,
    drawn: list[str],
    request: pytest.FixtureRequest,
    load: Callable[[dict[str, Any]], Config],
    scores_file: Callable[..., dict[str, Any]],
    tmp_path: Path,
    manifests: dict[str, Manifest],
) -> None:
    config = load(request.getfixturevalue(scale))
    corpus = config.task("en-de").text.tests["test"]
    path = tmp_path / "en-de.base.json"
    path.write_text(json.dumps(scores_file("en-de.base", corpus, 3003, 27.1)))
    comparisons = compare(PAPER, config, {"en-de.base": read(path).splits}, manifests)
    found = list(our_systems(comparisons, {"en-de.base": 1e18, "en-de.big": 1e19}))
    assert [system.name for system in found] == drawn
    assert all((s.origin, s.bleu, s.flops) == ("ours", 27.1, 1e18) for s in found)
