"""The copied figures compared with the paper's text and with arithmetic."""

from __future__ import annotations

import pytest

from aiayn.paper import PAPER, Printed

P100_FLOPS, HOUR, GPUS = 9.5e12, 3600, 8  # footnote 5; section 5.2


def test_a_cell_keeps_its_printed_digits() -> None:
    assert PAPER.table_2["gnmt_ensemble"].bleu["en-de"].text == "26.30"
    assert PAPER.table_2["gnmt_ensemble"].bleu["en-de"].value == 26.3
    assert PAPER.table_2["deep_att"].flops["en-fr"].value == 1e20
    assert Printed("300K").value == 300_000


@pytest.mark.parametrize(("row", "hours"), [("base", 12), ("big", 3.5 * 24)])
def test_training_cost_is_hours_times_gpus_times_rate(row: str, hours: float) -> None:
    printed = PAPER.table_2[row].flops_of_both
    assert printed is not None
    assert f"{hours * HOUR * GPUS * P100_FLOPS:.1e}".replace("+", "") == printed.text


def test_table_2_as_the_abstract_and_section_6_1_describe_it() -> None:
    def best_of_others(pair: str) -> float:
        return max(
            row.bleu[pair].value for row in PAPER.table_2.values() if row.by and pair in row.bleu
        )

    big, base = PAPER.table_2["big"], PAPER.table_2["base"]
    assert big.bleu["en-de"].value > best_of_others("en-de") + 2.0  # "by more than 2.0 BLEU"
    assert base.bleu["en-de"].value > best_of_others("en-de")  # "even our base model surpasses all"
    assert big.bleu["en-fr"].value > best_of_others("en-fr")
    assert {len(row.bleu) for row in PAPER.table_2.values()} == {1, 2}
    assert len(PAPER.table_2) == 10


def test_a_note_mentions_41_0_as_well_as_41_8() -> None:
    assert PAPER.table_2["big"].bleu["en-fr"].text == "41.8"
    assert "41.0" in PAPER.notes["table_2"]["big.bleu.en-fr"]


def test_rows_a_keep_the_cost_of_attention() -> None:
    rows = [row for row in PAPER.table_3.values() if row.group == "A"]
    assert len(rows) == 4
    for row in rows:
        assert row.columns["h"].value * row.columns["d_k"].value == 512
        assert row.columns["d_k"] == row.columns["d_v"]
    # section 6.2: "single-head attention is 0.9 BLEU worse than the best setting"
    single = PAPER.table_3["A_h1"].bleu.value
    assert max(row.bleu.value for row in rows) - single == pytest.approx(0.9)


@pytest.mark.parametrize(
    "key", [key for key, row in PAPER.table_3.items() if row.parameters_millions and key != "big"]
)
def test_parameters_follow_from_the_columns(key: str) -> None:
    """The released code's layout: 40,960 pieces, biases in attention, 32 target-space vectors.

    The row big is left out: no vocabulary fits both it and base.
    """
    row = PAPER.table_3[key]
    cells = {**PAPER.table_3["base"].columns, **row.columns}
    n, d, d_ff, h, d_k, d_v = (
        int(cells[name].value) for name in ("N", "d_model", "d_ff", "h", "d_k", "d_v")
    )
    k, v = h * d_k, h * d_v
    attention = 2 * d * k + 2 * d * v + 2 * k + v + d
    feed_forward = 2 * d * d_ff + d_ff + d
    norm = 2 * d
    layers = n * (attention + feed_forward + 2 * norm) + n * (
        2 * attention + feed_forward + 3 * norm
    )
    assert row.parameters_millions is not None
    assert round((layers + (40_960 + 32) * d) / 1e6) == row.parameters_millions.value


def test_required_parameters_of_a_reproduction() -> None:
    def required(row: str, pair: str) -> dict[str, str]:
        parameters = PAPER.table_2[row].recipes[pair].parameters
        return {name: needed.text for name, needed in parameters.items()}

    base = required("base", "en-fr")
    german, french = required("big", "en-de"), required("big", "en-fr")
    assert (base["model.N"], base["model.steps"], base["model.average"]) == ("6", "100K", "5")
    assert (german["model.d_v"], german["model.eps_ls"]) == ("64", "0.1")
    assert (german["model.P_drop"], french["model.P_drop"]) == ("0.3", "0.1")
    assert german["model.average"] == "20"
    assert (german["bpe.vocabulary"], french["bpe.vocabulary"]) == ("about 37000", "32000")


def test_checkpoints_are_ten_minutes_apart() -> None:
    """Section 6.1, at section 5.2's time of a step, and at its hours over its steps."""
    for row, seconds, hours, steps in (("base", 0.4, 12, 100_000), ("big", 1.0, 84, 300_000)):
        needed = PAPER.table_2[row].recipes["en-de"].parameters["model.checkpoint_steps"]
        assert needed.admits(round(600 / seconds))
        assert needed.admits(round(600 / (hours * 3600 / steps)))
        assert not needed.admits(round(1200 / seconds))


def test_the_other_tables_are_complete() -> None:
    assert len(PAPER.table_1) == 4
    assert len(PAPER.table_3) == 20
    groups = [row.group for row in PAPER.table_3.values()]
    assert {name: groups.count(name) for name in "ABCDE"} == {
        "A": 4,
        "B": 2,
        "C": 7,
        "D": 4,
        "E": 1,
    }
    # section 6.2: bigger models are better, and dropout is very helpful
    assert PAPER.table_3["D_drop00"].bleu.value < PAPER.table_3["base"].bleu.value
    assert min(row.perplexity.value for row in PAPER.table_3.values()) == 4.33
    assert len(PAPER.table_4) == 12
    # section 6.3: semi-supervised, only multi-task and generative training do better
    semi = PAPER.table_4["transformer_semi"].f1.value
    better = [row.name for row in PAPER.table_4.values() if row.f1.value > semi]
    assert better == ["Luong et al. (2015)", "Dyer et al. (2016)"]
