"""Verdicts, tables and records of table 2 over hand-made scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from aiayn.report import table_2
from aiayn.report.evidence import Evidence, Scores
from aiayn.report.section import Section
from aiayn.report.table_2 import FIELDS, bleu_entries, section
from aiayn.report.tables import Table
from aiayn.report.verdict import Verdict
from aiayn.results.scores import read

BLEU = {"en-de.base": 27.1, "en-de.big": 29.25, "en-fr.base": 38.1, "en-fr.big": 41.0}

Make = Callable[..., Evidence]


@pytest.fixture
def make(
    tmp_path: Path,
    load: Callable[[dict[str, Any]], Any],
    scores_file: Callable[..., dict[str, Any]],
    manifests: dict[str, Any],
    evidence: Callable[..., Evidence],
) -> Make:
    """The evidence of a project in which every run was scored on its own test corpus."""

    def make_evidence(params: dict[str, Any], pairs: int = 3003) -> Evidence:
        config = load(params)
        scores = {}
        for run, value in BLEU.items():
            corpus = config.task(config.run(run).task).text.tests["test"]
            path = tmp_path / f"{run}.json"
            path.write_text(json.dumps(scores_file(run, corpus, pairs, value)), encoding="utf-8")
            scores[run] = read(path).splits
        return evidence(config=config, scores=scores, manifests=manifests)

    return make_evidence


@pytest.fixture
def judged(make: Make, wmt14: dict[str, Any]) -> Evidence:
    return make(wmt14)


def with_scores(evidence: Evidence, **changed: Any) -> Evidence:
    return Evidence(**{**vars(evidence), **changed})


def verdicts(evidence: Evidence) -> dict[str, Verdict]:
    return {run: entry.verdict for run, entry in bleu_entries(evidence).items()}


def tables(page_section: Section) -> tuple[Table, Table]:
    printed, measured = page_section.tables
    return printed, measured


def test_the_papers_experiment_is_judged(judged: Evidence) -> None:
    assert verdicts(judged) == {
        "en-de.base": Verdict.REPRODUCED,
        "en-de.big": Verdict.DIFFERS,
        "en-fr.base": Verdict.REPRODUCED,
        "en-fr.big": Verdict.DIFFERS,  # 41.0 against the 41.8 of the table
    }
    assert [entry.difference for entry in bleu_entries(judged).values()] == [-0.2, 0.0, 0.85, -0.8]


def test_german_is_compared_with_compounds_split_and_french_without(judged: Evidence) -> None:
    ours = {run: entry.ours for run, entry in bleu_entries(judged).items()}
    assert ours["en-de.base"] is not None
    assert ours["en-de.base"].sources[0].endswith("test.compound_split_bleu.value")
    assert ours["en-fr.base"] is not None
    assert ours["en-fr.base"].sources[0].endswith("test.tokenized_bleu.value")


def test_other_sentences_are_never_judged(make: Make, toy: dict[str, Any]) -> None:
    evidence = make(toy)
    assert set(verdicts(evidence).values()) == {Verdict.NOT_RUN}
    assert all(entry.ours is None for entry in bleu_entries(evidence).values())
    printed, measured = tables(section(evidence))
    ours = [cell for row in printed.rows for cell in row.cells if cell.sources]
    assert {(cell.detail, cell.tone) for cell in ours} == {("on toy-test", "quiet")}
    assert [cell.text for cell in ours] == ["27.10", "38.10", "29.25", "41.00"]
    assert "27.10" in {cell.text for row in measured.rows for cell in row.cells}
    assert all(row.cells[1].text == "toy-test" for row in measured.rows)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"N": 2}, "N is 2, not 6 (table 3)"),
        ({"average": 1}, "average is 1, not 5 (section 6.1)"),
    ],
)
def test_another_model_is_not_judged(
    make: Make, wmt14: dict[str, Any], change: dict[str, Any], reason: str
) -> None:
    wmt14["models"]["base"] |= change
    entries = bleu_entries(make(wmt14))
    base, big = entries["en-de.base"], entries["en-de.big"]
    assert (base.verdict, base.reasons, base.ours) == (Verdict.OTHER_RECIPE, (reason,), None)
    assert big.verdict is Verdict.DIFFERS


def test_the_filtered_test_set_is_not_judged(make: Make, wmt14: dict[str, Any]) -> None:
    assert set(verdicts(make(wmt14, 2737)).values()) == {Verdict.NOT_RUN}


def test_a_run_that_does_not_exist_or_has_no_scores_has_the_reason(
    make: Make, wmt14: dict[str, Any], load: Callable[[dict[str, Any]], Any], judged: Evidence
) -> None:
    del wmt14["runs"]["en-fr.big"]
    wmt14["tested"].remove("en-fr.big")
    scores: Scores = {"en-de.base": None, "en-de.big": None, "en-fr.base": None}
    evidence = with_scores(judged, config=load(wmt14), scores=scores)
    assert {entry.reasons for entry in bleu_entries(evidence).values()} == {("no score yet",)}
    (printed,) = section(evidence).tables
    assert not [row for row in printed.rows if row.tone == "ours"]


def test_other_models_are_listed_below_the_papers(
    make: Make, toy: dict[str, Any], load: Callable[[dict[str, Any]], Any]
) -> None:
    evidence = make(toy)
    toy["runs"]["en-de.tiny"] = {"task": "en-de", "model": "big", "seed": 2}
    del toy["runs"]["en-de.big"]
    toy["tested"] = [*toy["runs"]]
    scores = dict(evidence.scores)
    scores["en-de.tiny"] = scores.pop("en-de.big")
    printed, _ = tables(section(with_scores(evidence, config=load(toy), scores=scores)))
    assert [cell.text for cell in printed.rows[-1].cells] == ["ours", "29.25", "–", "–", "–"]
    assert printed.rows[-1].cells[0].detail == "tiny"


def test_all_of_the_papers_rows_have_their_printed_values(judged: Evidence) -> None:
    printed = section(judged).tables[0]
    rows = {
        row.cells[0].text: [c.text for c in row.cells] for row in printed.rows if row.tone != "ours"
    }
    assert len(rows) == 10
    assert rows["GNMT + RL, ensemble"][1:] == ["26.30", "41.16", "1.8·10²⁰", "1.1·10²¹"]
    assert rows["ByteNet"][1:] == ["23.75", "–", "–", "–"]
    assert rows["Transformer (big)"][1:] == ["28.4", "41.8", "2.3·10¹⁹"]


def test_records_keep_figures_of_different_sets_apart(judged: Evidence) -> None:
    evidence = with_scores(judged, scores={**judged.scores, "en-de.big": None})
    records = pd.DataFrame(section(evidence).records)
    assert tuple(records) == FIELDS
    counts = records["origin"].value_counts()
    assert (counts["published"], counts["paper"]) == (13, 4)
    decided = records[records["difference"].fillna("") != ""].set_index("run")
    assert decided["measure"].to_dict() == {
        "en-de.base": "compound_split_bleu",
        "en-fr.base": "tokenized_bleu",
        "en-fr.big": "tokenized_bleu",
    }
    assert [*decided["difference"]] == ["-0.20", "+0.00", "-0.80"]
    not_run = records[records["run"] == "en-de.big"]
    assert not_run["verdict"].tolist() == ["not run at this scale"]
    assert not_run["value"].isna().all()
    assert records["test_set"].notna().all()


def test_a_cost_is_next_to_the_papers_only_if_the_training_is_the_papers(
    judged: Evidence, make: Make, toy: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = {"en-de.base": 9.54e17, "en-fr.big": 9.7e18}
    monkeypatch.setattr(table_2, "counted_costs", lambda *_: costs)

    def shown(evidence: Evidence) -> tuple[list[list[str]], list[str]]:
        printed, measured = tables(section(evidence))
        ours = [[c.text for c in row.cells[3:]] for row in printed.rows if row.tone == "ours"]
        return ours, [row.cells[-1].text for row in measured.rows]

    measured = ["9.5·10¹⁷", "–", "–", "9.7·10¹⁸"]
    assert shown(judged) == ([["9.5·10¹⁷", "–"], ["–", "9.7·10¹⁸"]], measured)
    assert shown(make(toy)) == ([["–", "–"]] * 2, measured)
