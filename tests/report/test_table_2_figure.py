from __future__ import annotations

import pytest

from aiayn.paper import PAPER
from aiayn.report.section import Entry, Figure
from aiayn.report.table_2_figure import cost_figure
from aiayn.report.tables import Cell
from aiayn.report.verdict import Verdict

JUDGED = Entry(what="", paper="27.3", ours=Cell("27.10"), verdict=Verdict.REPRODUCED)
NOT_JUDGED = Entry(what="", paper="28.4", ours=None, verdict=Verdict.OTHER_RECIPE)


@pytest.fixture(scope="module")
def figure() -> Figure:
    entries = {"en-de.base": JUDGED, "en-de.big": NOT_JUDGED, "en-fr.base": JUDGED}
    return cost_figure(PAPER, entries, {"en-de.base": 1e18, "en-de.big": 1e19})


def test_every_cell_with_a_cost_is_a_point(figure: Figure) -> None:
    systems = figure.data
    printed = systems[systems["origin"] != "ours"]
    # table 2 prints 18 BLEU cells; ByteNet's alone has no cost
    assert len(printed) == sum(len(row.bleu) for row in PAPER.table_2.values()) - 1
    assert "ByteNet" not in set(systems["model"])
    points = printed.set_index(["model", "pair"])[["training_flops", "bleu", "origin"]]
    assert points.loc[("GNMT + RL", "en-fr")].tolist() == ["1.4e+20", "39.92", "published"]
    assert points.loc[("Transformer (base model)", "en-fr")].tolist() == [
        "3.3e+18",
        "38.10",
        "paper",
    ]
    assert ">10¹⁹<" in figure.svg


def test_ours_stand_beside_the_papers_where_they_are_judged_and_have_a_cost(figure: Figure) -> None:
    systems = figure.data
    ours = systems[systems["origin"] == "ours"]
    assert ours.to_numpy().tolist() == [
        ["ours", "Transformer (base model), ours", "en-de", "1e+18", "27.10"]
    ]
    assert ">Transformer (base model), ours<" in figure.svg
    assert ">Transformer, ours<" in figure.svg


def test_without_ours_the_legend_does_not_name_them() -> None:
    assert ">Transformer, ours<" not in cost_figure(PAPER, {}, {}).svg
