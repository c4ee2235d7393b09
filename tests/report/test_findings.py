"""The leading section: every statement of the paper with its effect, and what holds here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aiayn.paper.findings import STATEMENTS
from aiayn.report.findings import section
from aiayn.results import comparison, paths

GOLDEN = Path(__file__).parents[1] / "results/golden" / paths.TABLE_3


@pytest.fixture
def held() -> Any:
    return comparison.read(GOLDEN)


def evidence(variations: Any, looks: tuple[int, ...] = (), declared: Any = None) -> Any:
    """Of a project without a task that others have published figures for."""
    design = SimpleNamespace(interim_looks=looks, preregistration=declared)
    config = SimpleNamespace(tasks={}, runs={}, variations=design)
    return SimpleNamespace(variations=variations, config=config, scores={})


def made(variations: Any) -> dict[str, list[str]]:
    """Rows by statement: effect, p and verdict."""
    (table,) = section(evidence(variations)).tables
    return {
        row.cells[0].text: [f"{cell.text} {cell.detail}".strip() for cell in row.cells[2:]]
        for row in table.rows
    }


def test_every_statement_has_its_line(held: Any) -> None:
    rows = made(held)
    assert list(rows) == [statement.text for statement in STATEMENTS.values()]
    assert rows[STATEMENTS["one_head"].text] == ["−0.50 −4.00 to +3.00", "1.0000", "undecided"]
    assert rows[STATEMENTS["big"].text] == ["–", "", "not run at this scale"]
    assert rows[STATEMENTS["layers"].text] == ["–", "", "not run at this scale"]


def test_a_seed_without_a_partner_is_said(held: Any) -> None:
    finding = held.findings["one_head"]
    alone = finding.replace(effect=finding.effect.replace(unpaired=(4, 5)))
    (effect, *_) = made(held.replace(findings={"one_head": alone}))[STATEMENTS["one_head"].text]
    assert effect == "−0.50 −4.00 to +3.00; without seeds that lack a partner: 4, 5"


def test_what_does_not_hold_is_said_as_plainly(held: Any) -> None:
    for verdict in ("holds at this scale", "does not hold at this scale"):
        finding = held.findings["one_head"].replace(verdict=verdict)
        rows = made(held.replace(findings={"one_head": finding}))
        assert rows[STATEMENTS["one_head"].text][-1] == verdict


def test_without_a_spread_it_says_why(held: Any) -> None:
    finding = comparison.Finding(verdict="undecided", why_not_tested="one seed")
    alone = held.replace(findings={"one_head": finding})
    assert made(alone)[STATEMENTS["one_head"].text] == ["– one seed", "", "undecided"]


def test_where_none_was_run_one_line_says_so(held: Any) -> None:
    none = {key: comparison.Finding(verdict="not run at this scale") for key in held.findings}
    for variations in (None, held.replace(findings=none)):
        assert made(variations) == {"All 14 claims": ["–", "", "not run at this scale"]}
        records = section(evidence(variations)).records
        assert list(records["finding"]) == list(STATEMENTS)


def test_more_than_one_look_is_told(held: Any) -> None:
    for looks, told in (((), 0), ((5,), 0), ((3, 5), 1)):
        (table,) = section(evidence(held, looks)).tables
        assert sum("interim looks with 3, 5 seeds" in note for _, note in table.notes) == told


def test_whether_the_tests_were_declared_is_told(held: Any) -> None:
    for declared, words in ((None, "Exploratory"), (SimpleNamespace(commit="1a2b3c4"), "1a2b3c4")):
        (table,) = section(evidence(held, declared=declared)).tables
        assert sum(words in note for _, note in table.notes) == 1


def test_lines_of_csv_are_the_tables(held: Any) -> None:
    records = section(evidence(held)).records
    assert list(records["finding"]) == list(STATEMENTS)
    assert records[["effect", "p", "verdict"]].values[0].tolist() == [-0.5, 1.0, "undecided"]
