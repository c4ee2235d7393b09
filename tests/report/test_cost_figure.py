from __future__ import annotations

from aiayn.report.cost_figure import System, cost_figure, printed_systems
from aiayn.report.paper import load_paper

PAPER = load_paper()


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
    assert with_ours.records[-1]["training_flops"] == "1e+18"
    assert ">10¹⁹<" in without.svg
