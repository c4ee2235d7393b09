"""Costs from the paper's table 3, copied here from the paper: BLEU minus base's 25.8."""

from __future__ import annotations

import pytest

from aiayn.paper.known_costs import known_costs


@pytest.mark.parametrize(
    ("key", "printed"),
    [
        ("model.N", "N 2 −2.1; N 4 −0.5; N 8 −0.3"),
        ("model.h", "h 1 −0.9; h 4 −0.3; h 16 +0.0; h 32 −0.4"),
        ("model.d_k", "d_k 16 −0.7; d_k 32 −0.4"),
        ("model.d_model", "d_model 256 −1.3; d_model 1024 +0.2"),
        ("model.P_drop", "P_drop 0.0 −1.2; P_drop 0.2 −0.3"),
        ("model.eps_ls", "eps_ls 0.0 −0.5; eps_ls 0.2 −0.1"),
        ("model.positions", "positions learned −0.1"),
    ],
)
def test_by_table_3(key: str, printed: str) -> None:
    assert known_costs(key) == (f"table 3, BLEU on newstest2013: {printed}",)


def test_a_cost_without_a_source_is_not_known() -> None:
    for key in ("model.steps", "model.d_v", "training.warmup_steps", "bpe.vocabulary", "text"):
        assert known_costs(key) == ()


def test_costs_reported_by_others_have_a_source() -> None:
    for key in ("training.batch_tokens", "model.average", "text.form"):
        (cost,) = known_costs(key)
        assert "#" in cost
