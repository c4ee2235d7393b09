"""Comparison, tables and records of table 2 over hand-made scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Config
from aiayn.paper import PAPER
from aiayn.report.parts.verdict import Verdict
from aiayn.report.table_2.bleu_cells import Comparison, Scores, compare
from aiayn.report.table_2.bleu_lines import FIELDS, records
from aiayn.report.table_2.translation import table_2
from aiayn.results.scores import read
from aiayn.results.text import Manifest

BLEU = {"en-de.base": 27.1, "en-de.big": 29.25, "en-fr.base": 38.1, "en-fr.big": 41.0}

Load = Callable[[dict[str, Any]], Config]
Manifests = dict[str, Manifest]


def scored(folder: Path, config: Config, pairs: int, make: Callable[..., dict[str, Any]]) -> Scores:
    """Scores of every run on its own test corpus, through files."""
    result = {}
    for run, value in BLEU.items():
        corpus = config.task(config.run(run).task).text.tests["test"]
        path = folder / f"{run}.json"
        path.write_text(json.dumps(make(run, corpus, pairs, value)), encoding="utf-8")
        result[run] = read(path).splits
    return result


@pytest.fixture
def judged(
    tmp_path: Path, load: Load, wmt14: dict[str, Any], scores_file: Callable[..., dict[str, Any]]
) -> tuple[Config, Scores]:
    config = load(wmt14)
    return config, scored(tmp_path, config, 3003, scores_file)


def verdicts(comparisons: tuple[Comparison, ...]) -> dict[str, Verdict]:
    return {item.run: item.judgement.verdict for item in comparisons}


def test_the_papers_experiment_is_judged(
    judged: tuple[Config, Scores], manifests: Manifests
) -> None:
    comparisons = compare(PAPER, *judged, manifests)
    assert verdicts(comparisons) == {
        "en-de.base": Verdict.REPRODUCED,
        "en-de.big": Verdict.DIFFERS,
        "en-fr.base": Verdict.REPRODUCED,
        "en-fr.big": Verdict.DIFFERS,  # 41.0 against the 41.8 of the table
    }


def test_german_is_compared_with_compounds_split_and_french_without(
    judged: tuple[Config, Scores], manifests: Manifests
) -> None:
    ours = {item.run: item.ours for item in compare(PAPER, *judged, manifests)}
    assert ours["en-de.base"] is not None
    assert ours["en-de.base"].source.endswith("test.compound_split_bleu")
    assert ours["en-fr.base"] is not None
    assert ours["en-fr.base"].source.endswith("test.tokenized_bleu")


def test_other_sentences_are_never_judged(
    tmp_path: Path,
    load: Load,
    toy: dict[str, Any],
    scores_file: Callable[..., dict[str, Any]],
    manifests: Manifests,
) -> None:
    config = load(toy)
    scores = scored(tmp_path, config, 3003, scores_file)
    comparisons = compare(PAPER, config, scores, manifests)
    assert set(verdicts(comparisons).values()) == {Verdict.NOT_RUN}
    assert all(item.ours is None and item.sacrebleu is None for item in comparisons)
    printed, compared, measured = table_2(PAPER, config, scores, comparisons)
    for table in (printed, compared):
        assert not [cell for row in table.rows for cell in row.cells if cell.sources]
    # the toy scores are shown, and only there, beside their own corpus and no figure of the paper
    assert "27.10" in {cell.text for row in measured.rows for cell in row.cells}
    assert all(row.cells[1].text == "toy-test" for row in measured.rows)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"models": {"base": {"N": 2}}}, "N is 2, not 6 (table 3)"),
        ({"models": {"base": {"average": 1}}}, "average is 1, not 5 (section 6.1)"),
    ],
)
def test_another_model_is_not_judged(
    tmp_path: Path,
    load: Load,
    wmt14: dict[str, Any],
    scores_file: Callable[..., dict[str, Any]],
    change: dict[str, Any],
    reason: str,
    manifests: Manifests,
) -> None:
    wmt14["models"]["base"] |= change["models"]["base"]
    config = load(wmt14)
    comparisons = compare(PAPER, config, scored(tmp_path, config, 3003, scores_file), manifests)
    base, big = comparisons[0], comparisons[2]
    assert (base.run, base.judgement.verdict) == ("en-de.base", Verdict.OTHER_RECIPE)
    assert base.judgement.reasons == (reason,)
    assert big.judgement.verdict is Verdict.DIFFERS


def test_the_filtered_test_set_is_not_judged(
    tmp_path: Path,
    load: Load,
    wmt14: dict[str, Any],
    scores_file: Callable[..., dict[str, Any]],
    manifests: Manifests,
) -> None:
    config = load(wmt14)
    comparisons = compare(PAPER, config, scored(tmp_path, config, 2737, scores_file), manifests)
    assert set(verdicts(comparisons).values()) == {Verdict.NOT_RUN}


def test_a_run_that_does_not_exist_or_has_no_scores_says_so(
    load: Load, wmt14: dict[str, Any], manifests: Manifests
) -> None:
    del wmt14["runs"]["en-fr.big"]
    wmt14["tested"].remove("en-fr.big")
    config = load(wmt14)
    scores: Scores = {"en-de.base": None, "en-de.big": None, "en-fr.base": None}
    comparisons = compare(PAPER, config, scores, manifests)
    assert {item.judgement.reasons for item in comparisons} == {("no score yet",)}
    printed, _, measured = table_2(PAPER, config, scores, comparisons)
    assert [row.cells[1].text for row in measured.rows] == ["not run"] * 3
    ours = [row for row in printed.rows if row.tone == "ours"]
    assert [[cell.text for cell in row.cells[2:]] for row in ours] == [
        ["not run", "not run", "–", "–"]
    ] * 2


def test_all_of_the_papers_rows_are_there_as_printed(
    judged: tuple[Config, Scores], manifests: Manifests
) -> None:
    config, scores = judged
    printed = table_2(PAPER, config, scores, compare(PAPER, config, scores, manifests))[0]
    rows = {
        row.cells[0].text: [c.text for c in row.cells] for row in printed.rows if row.tone != "ours"
    }
    assert len(rows) == 10
    assert rows["GNMT + RL, ensemble"][1:] == [
        "published",
        "26.30",
        "41.16",
        "1.8·10²⁰",
        "1.1·10²¹",
    ]
    assert rows["ByteNet"][1:] == ["published", "23.75", "–", "–", "–"]
    assert rows["Transformer (big)"][1:] == ["paper", "28.4", "41.8", "2.3·10¹⁹"]
    # every row is as wide as the headings
    assert {sum(cell.span for cell in row.cells) for row in printed.rows} == {len(printed.headings)}


def test_tables_are_rectangular(judged: tuple[Config, Scores], manifests: Manifests) -> None:
    config, scores = judged
    missing = {**scores, "en-de.big": None}
    for held in (scores, missing):
        for table in table_2(PAPER, config, held, compare(PAPER, config, held, manifests)):
            assert len(table.alignment) == len(table.headings)
            widths = {sum(cell.span for cell in row.cells) for row in table.rows}
            assert widths == {len(table.headings)}


def test_records_keep_figures_of_different_sets_apart(
    judged: tuple[Config, Scores], manifests: Manifests
) -> None:
    config, scores = judged
    lines = records(
        PAPER,
        config,
        {**scores, "en-de.big": None},
        compare(PAPER, config, scores | {"en-de.big": None}, manifests),
    )
    assert {tuple(line) for line in lines} == {FIELDS}
    assert sum(line["origin"] == "published" for line in lines) == 13
    assert sum(line["origin"] == "paper" for line in lines) == 4
    decided = {
        line["run"]: (line["measure"], line["difference"]) for line in lines if line["difference"]
    }
    assert decided == {
        "en-de.base": ("compound_split_bleu", "-0.20"),
        "en-fr.base": ("tokenized_bleu", "+0.00"),
        "en-fr.big": ("tokenized_bleu", "-0.80"),
    }
    gap = [line for line in lines if line["run"] == "en-de.big"]
    assert [(line["value"], line["verdict"]) for line in gap] == [("", "not run at this scale")]
    assert all(line["test_set"] for line in lines)


def test_a_cost_stands_beside_the_papers_only_where_the_training_is_the_papers(
    judged: tuple[Config, Scores],
    tmp_path: Path,
    load: Load,
    toy: dict[str, Any],
    scores_file: Callable[..., dict[str, Any]],
    manifests: Manifests,
) -> None:
    costs = {"en-de.base": 9.54e17, "en-fr.big": 9.7e18}

    def shown(config: Config, scores: Scores) -> tuple[list[list[str]], list[str]]:
        printed, _, measured = table_2(
            PAPER, config, scores, compare(PAPER, config, scores, manifests), costs
        )
        ours = [[c.text for c in row.cells[4:]] for row in printed.rows if row.tone == "ours"]
        return ours, [row.cells[-1].text for row in measured.rows]

    ours, measured = shown(*judged)
    assert ours == [["9.5·10¹⁷", "–"], ["–", "9.7·10¹⁸"]]
    assert measured == ["9.5·10¹⁷", "–", "–", "9.7·10¹⁸"]
    config = load(toy)
    (tmp_path / "toy").mkdir()
    ours, measured = shown(config, scored(tmp_path / "toy", config, 3003, scores_file))
    assert ours == [["–", "–"]] * 2
    assert measured == ["9.5·10¹⁷", "–", "–", "9.7·10¹⁸"]
