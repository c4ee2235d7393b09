"""The paper's statements agree with the paper's own table 3."""

from __future__ import annotations

import math

import pytest

from aiayn.errors import ConfigError
from aiayn.paper.claims import (
    EQUAL,
    MARGIN_BLEU,
    MARGIN_LOG_PERPLEXITY,
    bleu_claim,
    perplexity_claim,
)
from aiayn.paper.findings import STATEMENTS, statements
from aiayn.paper.table_3 import ROWS
from aiayn.results import paths


@pytest.mark.parametrize("key", STATEMENTS)
def test_the_papers_figures_support_its_statements(key: str) -> None:
    statement = STATEMENTS[key]
    if statement.over == "modes":  # section 6.1 has no figures for these
        assert statement.rows.keys() <= set(paths.DECODING_MODES)
        return
    assert statement.rows.keys() <= ROWS.keys()
    assert sum(statement.rows.values()) == pytest.approx(0)
    if statement.measure == "bleu":
        values = {row: ROWS[row].bleu.value for row in statement.rows}
        margin = MARGIN_BLEU
    else:
        values = {row: math.log(ROWS[row].perplexity.value) for row in statement.rows}
        margin = MARGIN_LOG_PERPLEXITY
    effect = sum(weight * values[row] for row, weight in statement.rows.items())
    if statement.claim == "equal":
        assert abs(effect) < margin
    else:
        assert effect * {"higher": 1, "lower": -1}[statement.claim] > margin


def test_a_declared_statement_is_the_papers() -> None:
    message = r"statements\.one_haed is not a .* Did you mean one_head\?"
    with pytest.raises(ConfigError, match=message):
        statements({"one_haed": "bleu"})
    with pytest.raises(ConfigError, match=r"averaging\.measure is perplexity; .* by bleu"):
        statements({"averaging": "perplexity"})


@pytest.mark.parametrize(
    ("row", "bleu", "perplexity"),
    [
        ("A_h1", "lower", "higher"),  # 24.9, base 25.8; 5.29, base 4.92
        ("A_h4", None, None),  # 25.5, a difference of 0.3; 5.00, of 1.6 %
        ("A_h32", "lower", None),  # 25.4
        ("C_d1024", None, "lower"),  # 26.0, 4.66
        ("D_smooth00", "lower", "lower"),
        ("E_learned", "equal", "equal"),
    ],
)
def test_small_differences_in_the_paper_have_no_direction(
    row: str, bleu: str | None, perplexity: str | None
) -> None:
    assert (bleu_claim(row), perplexity_claim(row)) == (bleu, perplexity)


def test_nearly_identical_is_within_the_margins() -> None:
    for row in EQUAL:
        assert abs(ROWS[row].bleu.value - ROWS["base"].bleu.value) < MARGIN_BLEU
