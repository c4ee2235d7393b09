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


def evidence(variations: Any, looks: int | None = None) -> Any:
    """Of a project without a task that others have published figures for."""
    config = SimpleNamespace(tasks={}, runs={}, variations=SimpleNamespace(looks=looks))
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


def test_what_does_not_hold_is_said_as_plainly(held: Any) -> None:
    for verdict in ("holds", "does not hold"):
        finding = held.findings["one_head"].replace(verdict=verdict)
        rows = made(held.replace(findings={"one_head": finding}))
        assert rows[STATEMENTS["one_head"].text][-1] == verdict


def test_without_a_spread_it_says_why(held: Any) -> None:
    finding = comparison.Finding(verdict="undecided")
    alone = held.replace(base="A_h1", findings={"one_head": finding})
    assert made(alone)[STATEMENTS["one_head"].text] == ["– one seed of the base", "", "undecided"]


def test_where_none_was_run_one_line_says_so(held: Any) -> None:
    none = {key: comparison.Finding(verdict="not run at this scale") for key in held.findings}
    for variations in (None, held.replace(findings=none)):
        assert made(variations) == {"All 14 claims": ["–", "", "not run at this scale"]}
        records = section(evidence(variations)).records
        assert list(records["finding"]) == list(STATEMENTS)


def test_more_than_one_look_is_told(held: Any) -> None:
    for looks, told in ((None, 0), (1, 0), (3, 1)):
        (table,) = section(evidence(held, looks)).tables
        assert sum("corrected for 3 interim looks" in note for _, note in table.notes) == told


def test_lines_of_csv_are_the_tables(held: Any) -> None:
    records = section(evidence(held)).records
    assert list(records["finding"]) == list(STATEMENTS)
    assert records[["effect", "p", "verdict"]].values[0].tolist() == [-0.5, 1.0, "undecided"]
