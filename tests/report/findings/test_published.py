"""What others published stands beside ours only on the same sentences, by the same measure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aiayn.paper.others import PUBLISHED
from aiayn.records.scores import Score, SplitScores, TestSet
from aiayn.records.text import Part
from aiayn.report.findings.published import published

CAPTIONS = "multi30k-test-2016-flickr"


def evidence(
    pairs: int = 1000, target: str = "de", corpus: str = CAPTIONS, score: str = "lowercased_bleu"
) -> Any:
    text = SimpleNamespace(target=target, dev="multi30k-val", tests={"test": corpus})
    test_set = TestSet(corpora={corpus: Part(pairs=pairs)}, pairs=pairs, sha256={})
    held = Score(value=40.5, low=39.0, high=42.0, signature="s", source="en-de.tiny.json:test.x")
    return SimpleNamespace(
        config=SimpleNamespace(
            tasks={"en-de": SimpleNamespace(text=text)},
            runs={"en-de.tiny": SimpleNamespace(task="en-de"), "en-de.big": SimpleNamespace(task="en-de")},
        ),
        scores={
            "en-de.tiny": {"test": SplitScores(test_set=test_set, scores={score: held})},
            "en-de.big": None,
        },
    )  # fmt: skip


def lines(held: Any) -> list[list[str]]:
    return [
        [f"{cell.text} {cell.detail}".strip() for cell in row.cells[1:]]
        for table in published(held)
        for row in table.rows
    ]


def test_a_run_stands_beside_the_figure_of_its_sentences() -> None:
    assert lines(evidence()) == [
        ["41.02 BLEU, lower-cased words", "40.50 39.00 to 42.00", "−0.52", "en-de.tiny"]
    ]


@pytest.mark.parametrize(
    "other", [{"pairs": 999}, {"score": "bleu"}], ids=["other sentences", "another measure"]
)
def test_what_is_not_alike_is_not_compared(other: dict[str, Any]) -> None:
    assert lines(evidence(**other)) == [
        ["41.02 BLEU, lower-cased words", "– not run at this scale", "", ""]
    ]


@pytest.mark.parametrize("other", [{"corpus": "demo-test"}, {"target": "cs"}])
def test_without_such_a_task_there_is_no_table(other: dict[str, Any]) -> None:
    assert lines(evidence(**other)) == []


def test_figures_are_percents_with_a_source() -> None:
    for figure in PUBLISHED:
        assert 0 < figure.value.value < 100
        assert figure.source
