"""The first sentences of the page, over hand-made verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from aiayn.config import Config
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.summary import summary, verdicts
from aiayn.report.tables import Cell
from aiayn.report.verdict import Entry, Verdict
from aiayn.results.scores import SplitScores, TestSet


def entries(
    reproduced: int, differs: int, other: int, not_run: int, *, of_training: bool = True
) -> list[Entry]:
    found = [Verdict.REPRODUCED] * reproduced + [Verdict.DIFFERS] * differs
    found += [Verdict.OTHER_RECIPE] * other + [Verdict.NOT_RUN] * not_run
    return [
        Entry(what=f"w{n}", paper="1", ours=Cell("1"), verdict=v, of_training=of_training, reasons=("r",))
        for n, v in enumerate(found)
    ]  # fmt: skip


def section(section_entries: list[Entry]) -> Section:
    return Section(
        key="k", title="Table 9: x", subtitle="s", lead="l", entries=tuple(section_entries)
    )


@pytest.fixture
def toy_evidence(
    load: Callable[[dict[str, Any]], Config], toy: dict[str, Any], evidence: Callable[..., Evidence]
) -> Callable[..., Evidence]:
    return lambda **changed: evidence(config=load(toy), **changed)


def findings(**counts: int) -> Any:
    verdict_texts = {
        "holds": "holds at this scale",
        "fails": "does not hold at this scale",
        "undecided": "undecided",
        "none": "not run at this scale",
    }
    judged = [
        SimpleNamespace(verdict=verdict_texts[name]) for name, n in counts.items() for _ in range(n)
    ]
    return SimpleNamespace(findings=dict(enumerate(judged)))  # fmt: skip


def test_runs_are_counted_and_their_text_is_named(toy_evidence: Callable[..., Evidence]) -> None:
    scored = {"test": SplitScores.of(test_set=TestSet(corpora={}, pairs=1, sha256={}), scores={})}
    none, *_ = summary(toy_evidence(scores={"en-de.base": None}), [])
    assert none == "None of the 4 runs of the scale demo is scored yet."
    some, *_ = summary(toy_evidence(scores={"en-de.base": scored, "en-de.big": None}), [])
    assert some.startswith("1 of 4 runs of the scale demo are trained and scored, on ")


def test_runs_that_are_not_compared_yet(toy_evidence: Callable[..., Evidence]) -> None:
    """An outdated run or a failed stage leaves no comparison; a single model never has one."""
    evidence = toy_evidence(variations=None)
    _, claims, _ = summary(evidence, [])
    assert claims == "The claims of the paper are not tested yet: the runs are not compared."
    runs = {name: run for name, run in evidence.config.runs.items() if run.model == "base"}
    alone = evidence.config.model_copy(update={"runs": runs})
    _, claims, _ = summary(replace(evidence, config=alone), [])
    assert claims.endswith("this scale compares no two models.")


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"none": 3}, "No claim of the paper is tested here"),
        ({"holds": 2, "undecided": 12}, "Of 14 claims of the paper that the models here can test, 2 hold and 12 are undecided"),
        ({"holds": 1, "fails": 1, "undecided": 1, "none": 1}, "Of 3 claims of the paper that the models here can test, 1 holds, 1 does not hold and 1 is undecided."),
    ],
)  # fmt: skip
def test_claims_are_counted(
    counts: dict[str, int], expected: str, toy_evidence: Callable[..., Evidence]
) -> None:
    _, claims, _ = summary(toy_evidence(variations=findings(**counts)), [])
    assert claims.startswith(expected)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((0, 0, 3, 1), "None of the paper's 4 scores (BLEU, perplexity and F1) can be judged here"),
        ((4, 0, 0, 0), "Of the paper's 4 scores (BLEU, perplexity and F1), 4 are reproduced and 0 differ."),
        ((1, 2, 0, 5), "Of the paper's 8 scores (BLEU, perplexity and F1), 1 are reproduced and 2 differ."),
    ],
)  # fmt: skip
def test_the_summary_is_never_better_than_the_verdicts(
    counts: tuple[int, int, int, int], expected: str, toy_evidence: Callable[..., Evidence]
) -> None:
    _, _, figures = summary(toy_evidence(), [section(entries(*counts))])
    assert figures.startswith(expected)


def test_figures_that_need_no_training_are_counted_separately(
    toy_evidence: Callable[..., Evidence],
) -> None:
    """The demo once had 12 of 40 reproduced: the twelve cells of table 1."""
    built = Entry(what="w", paper="1", ours=Cell("1"), verdict=Verdict.BY_CONSTRUCTION)
    all_entries = [*entries(0, 0, 0, 4), *entries(12, 1, 0, 0, of_training=False), built]
    _, _, figures = summary(toy_evidence(), [section(all_entries)])
    assert figures.startswith("None of the paper's 4 scores")
    assert "of 13 figures that need no training" in figures
    assert figures.endswith("12 are reproduced.")


def test_what_was_not_run_is_one_row() -> None:
    rows = verdicts([section(entries(1, 1, 0, 44))]).rows
    assert [[cell.text for cell in row.cells] for row in rows] == [
        ["w0", "Table 9", "1", "1", "–", "reproduced"],
        ["w1", "Table 9", "1", "1", "–", "differs"],
        ["44 figures", "Table 9", "–", "–", "–", "not run at this scale"],
    ]
