"""The leading section: every statement of the paper with its effect, and whether it holds here."""

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
def golden() -> Any:
    return comparison.read(GOLDEN)


def evidence(variations: Any, looks: tuple[int, ...] = (), declared: Any = None) -> Any:
    """The evidence of a project without a task that has published figures."""
    design = SimpleNamespace(interim_looks=looks, preregistration=declared)
    config = SimpleNamespace(tasks={}, runs={}, variations=design)
    return SimpleNamespace(variations=variations, config=config, scores={})


def rows_by_statement(variations: Any) -> dict[str, list[str]]:
    """Rows by statement: effect, p and verdict."""
    (table,) = section(evidence(variations)).tables
    return {
        row.cells[0].text: [f"{cell.text} {cell.detail}".strip() for cell in row.cells[2:]]
        for row in table.rows
    }


def test_every_statement_has_its_row(golden: Any) -> None:
    rows = rows_by_statement(golden)
    assert list(rows) == [statement.text for statement in STATEMENTS.values()]
    assert rows[STATEMENTS["one_head"].text] == ["−0.50 −4.00 to +3.00", "1.0000", "undecided"]
    assert rows[STATEMENTS["big"].text] == ["–", "", "not run at this scale"]
    assert rows[STATEMENTS["layers"].text] == ["–", "", "not run at this scale"]


def test_a_seed_without_a_partner_is_mentioned(golden: Any) -> None:
    finding = golden.findings["one_head"]
    unpaired = finding.replace(effect=finding.effect.replace(unpaired=(4, 5)))
    rows = rows_by_statement(golden.replace(findings={"one_head": unpaired}))
    effect, *_ = rows[STATEMENTS["one_head"].text]
    assert effect == "−0.50 −4.00 to +3.00; without seeds that lack a partner: 4, 5"


def test_both_verdicts_are_shown_alike(golden: Any) -> None:
    for verdict in ("holds at this scale", "does not hold at this scale"):
        finding = golden.findings["one_head"].replace(verdict=verdict)
        rows = rows_by_statement(golden.replace(findings={"one_head": finding}))
        assert rows[STATEMENTS["one_head"].text][-1] == verdict


def test_without_a_spread_the_reason_is_shown(golden: Any) -> None:
    finding = comparison.Finding(verdict="undecided", why_not_tested="one seed")
    without_spread = golden.replace(findings={"one_head": finding})
    rows = rows_by_statement(without_spread)
    assert rows[STATEMENTS["one_head"].text] == ["– one seed", "", "undecided"]


def test_without_runs_there_is_one_row(golden: Any) -> None:
    none = {key: comparison.Finding(verdict="not run at this scale") for key in golden.findings}
    for variations in (None, golden.replace(findings=none)):
        assert rows_by_statement(variations) == {
            "All 14 claims": ["–", "", "not run at this scale"]
        }
        records = section(evidence(variations)).records
        assert list(records["finding"]) == list(STATEMENTS)


def test_interim_looks_are_mentioned(golden: Any) -> None:
    for looks, count in (((), 0), ((5,), 0), ((3, 5), 1)):
        (table,) = section(evidence(golden, looks)).tables
        assert sum("interim looks with 3, 5 seeds" in note for _, note in table.notes) == count


def test_whether_the_tests_were_preregistered_is_mentioned(golden: Any) -> None:
    for declared, words in ((None, "Exploratory"), (SimpleNamespace(commit="1a2b3c4"), "1a2b3c4")):
        (table,) = section(evidence(golden, declared=declared)).tables
        assert sum(words in note for _, note in table.notes) == 1


def test_records_are_those_of_the_table(golden: Any) -> None:
    records = section(evidence(golden)).records
    assert list(records["finding"]) == list(STATEMENTS)
    assert records[["effect", "p", "verdict"]].values[0].tolist() == [-0.5, 1.0, "undecided"]
