"""Copied sequences, counted by hand: the table, and the figure by length."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn.config import Config
from aiayn.errors import DataError
from aiayn.report.beyond_paper import section
from aiayn.report.evidence import Evidence
from aiayn.report.page import files
from aiayn.results.scores import Score, SplitScores, TestSet
from aiayn.results.text import Part

ROOT = Path(__file__).parents[2]
DRAWN = {"split": "test", "symbols": 9, "number": 1, "seed": 1}
TEXT = {"test": ["a b", "b a", "a b c"], "longer": ["a b c a", "c c c c"]}
COPIED = {"test": ["a b", "b b", "a b c"], "longer": ["a b c a", ""]}


@pytest.fixture
def config(toy: dict[str, Any], load: Callable[[dict[str, Any]], Config]) -> Config:
    tasks = yaml.load((ROOT / "conf/tasks/copy.yaml").read_text(), yaml.CSafeLoader)
    toy["tasks"] |= tasks
    for split in ("train", "dev", "test", "longer"):
        shortest, longest = (4, 6) if split == "longer" else (2, 3)
        drawn = {**DRAWN, "shortest": shortest, "longest": longest}
        toy["catalogue"]["corpora"][f"sequences-{split}"] = {"sequences": drawn}
    toy["runs"]["copy.base"] = {"task": "copy", "model": "base", "seed": 1}
    return load(toy)


def copied(value: float, split: str) -> SplitScores:
    test_set = TestSet(
        corpora={f"sequences-{split}": Part(pairs=1)}, pairs=len(TEXT[split]), sha256={}
    )
    score = Score(
        value=value, low=value - 1, high=value + 1, signature="x", source=f"f:{split}.accuracy"
    )
    return SplitScores.of(test_set=test_set, scores={"accuracy": score})


def write_texts(root: Path, outputs: dict[str, list[str]]) -> None:
    for folder, ending, texts in (
        ("data/text/copy", "target", TEXT), ("outputs/copy.base", "hypotheses", outputs),
    ):  # fmt: skip
        (root / folder).mkdir(parents=True)
        for split, lines in texts.items():
            path = root / folder / f"{split}.{ending}"
            path.write_text("".join(f"{line}\n" for line in lines))


def test_the_table_has_the_scores(config: Config, evidence: Callable[..., Evidence]) -> None:
    splits = {"test": copied(66.67, "test"), "longer": copied(50, "longer")}
    page_section = section(evidence(config=config, scores={"copy.base": splits}))
    (table,) = page_section.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["copy.base", "sequences-test", "3", "66.67", "sinusoid", "2 to 3"],
        ["copy.base", "sequences-longer", "2", "50.00", "sinusoid", "4 to 6"],
    ]
    assert table.rows[0].cells[3].sources == tuple(
        f"f:test.accuracy.{name}" for name in ("value", "low", "high")
    )
    assert list(page_section.records["value"]) == ["66.67", "50.00"]
    assert {"tables/beyond.md", "tables/beyond.csv"} <= files(page_section).keys()


def test_the_figure_counts_by_length_over_all_test_sets(
    config: Config, evidence: Callable[..., Evidence], tmp_path: Path
) -> None:
    write_texts(tmp_path, COPIED)
    page_section = section(evidence(config=config, scores={"copy.base": None}, root=tmp_path))
    (figure,) = page_section.figures
    assert figure.data[["length", "copied", "sequences"]].values.tolist() == [
        [2, 1, 2], [3, 1, 1], [4, 1, 2],
    ]  # fmt: skip
    assert "copy.base: sinusoid" in figure.svg


def test_outputs_of_other_sequences_are_an_error(
    config: Config, evidence: Callable[..., Evidence], tmp_path: Path
) -> None:
    write_texts(tmp_path, {"test": ["a b"]})
    with pytest.raises(DataError, match="has 3 lines and .* has 1. Make both again"):
        section(evidence(config=config, scores={"copy.base": None}, root=tmp_path))


def test_a_scale_without_the_task_has_no_section(
    toy: dict[str, Any], load: Callable[[dict[str, Any]], Config], evidence: Callable[..., Evidence]
) -> None:
    page_section = section(evidence(config=load(toy), scores={}))
    assert (page_section.tables, page_section.figures, files(page_section)) == ((), (), {})
