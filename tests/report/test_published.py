"""Published figures are compared with ours only on the same sentences, by the same measure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aiayn.paper.others import PUBLISHED
from aiayn.report.findings import published
from aiayn.results.scores import Score, SplitScores, TestSet
from aiayn.results.text import Part

CAPTIONS = "multi30k-test-2016-flickr"


def evidence(
    pairs: int = 1000, target: str = "de", corpus: str = CAPTIONS, score: str = "lowercased_bleu"
) -> Any:
    text = SimpleNamespace(target=target, dev="multi30k-val", tests={"test": corpus})
    test_set = TestSet(corpora={corpus: Part(pairs=pairs)}, pairs=pairs, sha256={})
    bleu = Score(value=40.5, low=39.0, high=42.0, signature="s", source="en-de.tiny.json:test.x")
    tasks = {"en-de": SimpleNamespace(text=text, kind="translation")}
    runs = {
        f"en-de.{name}": SimpleNamespace(task="en-de", model=name.partition("-")[0], seed=seed)
        for name, seed in (("tiny", 1), ("big", 1), ("tiny-s2", 2), ("tiny-again", 1))
    }
    return SimpleNamespace(
        config=SimpleNamespace(tasks=tasks, runs=runs, task=tasks.get, run=runs.get),
        scores={
            "en-de.tiny": {"test": SplitScores.of(test_set=test_set, scores={score: bleu})},
            "en-de.big": None,
            "en-de.tiny-s2": None,
            "en-de.tiny-again": None,
        },
    )


def lines(project_evidence: Any) -> list[list[str]]:
    return [
        [f"{cell.text} {cell.detail}".strip() for cell in row.cells[1:]]
        for table in published(project_evidence)
        for row in table.rows
    ]


def test_a_run_is_next_to_the_figure_for_its_sentences() -> None:
    assert lines(evidence()) == [
        ["41.02 BLEU, lower-cased words", "40.50 39.00 to 42.00", "−0.52", "en-de.tiny"]
    ]


def test_several_seeds_of_a_model_have_their_mean_below_them() -> None:
    project_evidence = evidence()
    first = project_evidence.scores["en-de.tiny"]["test"]
    second = first.scores["lowercased_bleu"].replace(value=42.5)
    project_evidence.scores["en-de.tiny-s2"] = {
        "test": SplitScores.of(first.test_set, {"lowercased_bleu": second})
    }
    assert [line[1:] for line in lines(project_evidence)] == [
        ["40.50 39.00 to 42.00", "−0.52", "en-de.tiny"],
        ["42.50 39.00 to 42.00", "+1.48", "en-de.tiny-s2"],
        ["41.50 ± 1.41", "+0.48", "en-de.tiny, 2 seeds"],
    ]


def test_a_repeated_run_is_no_second_seed() -> None:
    project_evidence = evidence()
    project_evidence.scores["en-de.tiny-again"] = project_evidence.scores["en-de.tiny"]
    assert [line[-1] for line in lines(project_evidence)] == ["en-de.tiny", "en-de.tiny-again"]


@pytest.mark.parametrize(
    "changes", [{"pairs": 999}, {"score": "bleu"}], ids=["other sentences", "another measure"]
)
def test_other_sentences_or_measures_are_not_compared(changes: dict[str, Any]) -> None:
    assert lines(evidence(**changes)) == [
        ["41.02 BLEU, lower-cased words", "– not run at this scale", "", ""]
    ]


@pytest.mark.parametrize("changes", [{"corpus": "demo-test"}, {"target": "cs"}])
def test_without_such_a_task_there_is_no_table(changes: dict[str, Any]) -> None:
    assert lines(evidence(**changes)) == []


def test_figures_are_percents_with_a_source() -> None:
    for figure in PUBLISHED:
        assert 0 < figure.value.value < 100
        assert figure.source
