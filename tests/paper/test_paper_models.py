"""The models counted as the paper's are the rows of its table 3, and have its costs."""

from __future__ import annotations

import math

import pytest

from aiayn.paper import PAPER, model_of
from aiayn.report.costs import estimate, paper_cost
from aiayn.results.profiles import ModelCost, ModelsProfile, PairFlops, Sides


@pytest.mark.parametrize("row", PAPER.table_3)
def test_a_counted_model_is_its_printed_row(row: str) -> None:
    model = model_of(row)
    for column, printed in {
        **PAPER.table_3["base"].columns,
        **PAPER.table_3[row].columns,
    }.items():
        value = getattr(model, column)
        assert value == (printed.text if isinstance(value, str) else printed.value), column


@pytest.mark.parametrize(("row", "hours"), [("base", 12), ("big", 3.5 * 24)])
def test_the_printed_costs_are_hours_times_gpus_times_rate(row: str, hours: float) -> None:
    cost = PAPER.table_2_cost
    assert cost.hours[row].value == hours
    flops = estimate(cost, hours)
    printed = PAPER.table_2[row].flops_of_both
    assert printed is not None
    assert f"{flops:.1e}" == f"{printed.value:.1e}"


@pytest.mark.parametrize(("row", "derived"), [("base", 9.5e17), ("big", 9.6e18)])
def test_counted_costs_are_six_flops_per_weight_and_piece(row: str, derived: float) -> None:
    """6 FLOPs x weights used by a piece x pieces, without attention scores; derived by hand."""
    d, ff = (512, 2048) if row == "base" else (1024, 4096)
    source = 6 * 6 * (4 * d * d + 2 * d * ff + 2 * d * d)
    target = 6 * (6 * (6 * d * d + 2 * d * ff) + 37_000 * d)
    sides = Sides(source=source, target=target)
    counted = ModelCost(
        vocabulary=37_000,
        parameters=1,
        forward_flops=sides,
        training_flops=sides,
        pair_flops=PairFlops(forward=1, training=1),
    )
    profile = ModelsProfile(sentence_pieces=30, models={}, paper={row: counted})
    flops = paper_cost(PAPER, profile, row)
    assert math.isclose(flops, derived, rel_tol=0.01)
