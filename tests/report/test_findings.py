"""The leading section: every statement of the paper with its effect, and whether it holds here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.significance import declared
from scipy.stats import ttest_1samp

from aiayn.config import Run
from aiayn.evaluation.significance import LEVEL
from aiayn.paper.findings import STATEMENTS
from aiayn.report.evidence import gather
from aiayn.report.findings import section
from aiayn.results import comparison, paths

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests/results/golden" / paths.TABLE_3

DECLARED = SimpleNamespace(
    commit="1a2b3c4", measures={**dict.fromkeys(STATEMENTS, "bleu"), "one_head": "perplexity"},
    margin_bleu=0.5, margin_log_perplexity=0.03, statements={},
)  # fmt: skip


@pytest.fixture
def golden() -> Any:
    return comparison.read(GOLDEN)


def evidence(variations: Any, looks: tuple[int, ...] = (), declared: Any = None) -> Any:
    """The evidence of a project without a task that has published figures."""
    design = SimpleNamespace(
        interim_looks=looks, preregistration=declared, base="brief",
        measures=declared and declared.measures,
    )  # fmt: skip
    runs = {"en-de.base": Run(task="en-de", model="base", seed=1)}
    config = SimpleNamespace(tasks={}, runs=runs, variations=design)
    return SimpleNamespace(variations=variations, config=config, scores={}, awaits_comparison=False)


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
    assert rows[STATEMENTS["one_head"].text] == ["−0.50 −4.00 to +3.00", "1.0000", "5", "undecided"]
    assert rows[STATEMENTS["big"].text] == ["–", "", "", "not run at this scale"]
    assert rows[STATEMENTS["layers"].text] == ["–", "", "", "not run at this scale"]


def test_the_number_of_compared_values_is_shown(golden: Any) -> None:
    finding = golden.findings["one_head"]
    fewer = finding.replace(effect=finding.effect.replace(count=2, unpaired=(4, 5)))
    rows = rows_by_statement(golden.replace(findings={"one_head": fewer}))
    assert rows[STATEMENTS["one_head"].text] == ["−0.50 −4.00 to +3.00", "1.0000", "2", "undecided"]


def test_both_verdicts_are_shown_alike(golden: Any) -> None:
    for verdict in ("holds at this scale", "does not hold at this scale"):
        finding = golden.findings["one_head"].replace(verdict=verdict)
        rows = rows_by_statement(golden.replace(findings={"one_head": finding}))
        assert rows[STATEMENTS["one_head"].text][-1] == verdict


def test_without_a_spread_the_reason_is_shown(golden: Any) -> None:
    finding = comparison.Finding(verdict="undecided", why_not_tested="one seed")
    without_spread = golden.replace(findings={"one_head": finding})
    rows = rows_by_statement(without_spread)
    assert rows[STATEMENTS["one_head"].text] == ["– one seed", "", "", "undecided"]


def test_without_runs_there_is_one_row(golden: Any) -> None:
    none = {key: comparison.Finding(verdict="not run at this scale") for key in golden.findings}
    for variations in (None, golden.replace(findings=none)):
        assert rows_by_statement(variations) == {
            "All 14 claims": ["–", "", "", "not run at this scale"]
        }
        records = section(evidence(variations)).records
        assert list(records["finding"]) == list(STATEMENTS)


def test_interim_looks_are_mentioned(golden: Any) -> None:
    for looks, count in (((), 0), ((5,), 0), ((3, 5), 1)):
        (table,) = section(evidence(golden, looks)).tables
        assert sum("interim looks with 3, 5 seeds" in note for _, note in table.notes) == count


def test_whether_the_tests_were_preregistered_is_mentioned(golden: Any) -> None:
    for design, words in ((None, "Exploratory"), (DECLARED, "1a2b3c4")):
        (table,) = section(evidence(golden, declared=design)).tables
        assert sum(words in note for _, note in table.notes) == 1


def test_records_are_those_of_the_table(golden: Any) -> None:
    records = section(evidence(golden)).records
    assert list(records["finding"]) == list(STATEMENTS)
    assert records[["effect", "p", "verdict"]].values[0].tolist() == [-0.5, 1.0, "undecided"]


def test_a_preregistered_scale_shows_the_declared_measure(golden: Any) -> None:
    """A ratio of perplexities is no difference of BLEU, and what lowers BLEU raises perplexity."""
    higher = golden.findings["one_head"].effect.replace(value=1.06, low=1.02, high=1.1)
    finding = comparison.Finding(verdict="holds at this scale", effect=higher)
    shown = evidence(golden.replace(findings={"one_head": finding}), declared=DECLARED)
    (table,) = section(shown).tables
    texts = [f"{cell.text} {cell.detail}".strip() for cell in table.rows[0].cells]
    assert texts[1:3] == ["perplexity higher", "×1.06 ×1.02 to ×1.10"]
    record = section(shown).records.iloc[0]
    assert (record["measure"], record["claim"]) == ("perplexity", "higher")


def test_an_undecided_claim_says_what_would_decide_it() -> None:
    """Of the published models: with 27 seeds, an effect of 0.43 BLEU whose standard deviation is
    0.53 is found four times in five, by simulation."""
    published = gather(ROOT / "reproductions/multi30k_table3")
    (claims, *_) = section(published).tables
    by_text = {row.cells[0].text: row.cells[-1] for row in claims.rows}
    assert by_text[STATEMENTS["one_head"].text].detail == "about 27 seeds would decide it"
    assert by_text[STATEMENTS["averaging"].text].detail == "about 33 models would decide it"
    assert not by_text[STATEMENTS["layers"].text].detail
    differences = np.random.default_rng(0).normal(0.430, 0.534, (20_000, 27))
    p_values = ttest_1samp(differences, 0, axis=1).pvalue
    assert float((p_values < LEVEL / len(STATEMENTS)).mean()) == pytest.approx(0.8, abs=0.03)


def test_an_undecided_claim_at_an_interim_look_says_so() -> None:
    """Which look it is depends on the claim: some have looks of their own."""
    published = gather(ROOT / "reproductions/multi30k_table3")  # five seeds
    form = declared("multi30k")
    assert form.preregistration
    of_models = [key for key, statement in STATEMENTS.items() if statement.over == "models"]
    statements = dict.fromkeys(of_models, form.preregistration.statements["many_heads"])
    statements["one_head"] = form.preregistration.statements["one_head"].replace(
        interim_looks=(5, 20)
    )
    preregistration = form.preregistration.replace(commit="1a2b3c4", statements=statements)
    for looks, expected in (
        ((5, 10), "at the look with 5 of 10 seeds; about "),
        ((3, 5), "about "),
    ):
        variations = form.replace(interim_looks=looks, preregistration=preregistration)
        runs = published.config.runs
        config = published.config.replace(variations=variations, tested=[*runs])
        (claims, *_) = section(replace(published, config=config)).tables
        details = {row.cells[0].text: row.cells[-1].detail for row in claims.rows}
        assert details[STATEMENTS["key_width"].text].startswith(expected)
        own = details[STATEMENTS["one_head"].text]
        assert own.startswith("at the look with 5 of 20 seeds; about ")
        assert sum("looks of their own" in note for _, note in claims.notes) == 1
