"""Labels on the page: scores, their sentences, and means over folds computed by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from aiayn.config import Config
from aiayn.report.beyond_paper import section
from aiayn.report.classification import paired_t
from aiayn.report.evidence import Evidence
from aiayn.report.learning_curves import training_curves
from aiayn.report.page import files
from aiayn.results.history import History, Line
from aiayn.results.scores import Score, SplitScores, TestSet
from aiayn.results.text import Part

ROOT = Path(__file__).parents[2]
ACCURACY = {"one": (70.0, 74.0, 78.0), "two": (69.0, 75.0, 75.0)}


@pytest.fixture
def config(toy: dict[str, Any], load: Callable[[dict[str, Any]], Config]) -> Config:
    """Two models on the first three folds of ten."""
    for section_ in ("downloads", "corpora"):
        toy["catalogue"][section_] |= yaml.load(
            (ROOT / "conf/catalogue/sentence_polarity.yaml").read_text(), yaml.CSafeLoader
        )[section_]
    tasks = yaml.load((ROOT / "conf/tasks/sentence_polarity.yaml").read_text(), yaml.CSafeLoader)
    for fold in range(3):
        toy["tasks"][f"polarity-{fold}"] = tasks[f"polarity-{fold}"]
        for model in ACCURACY:
            toy["models"][model] = toy["models"]["base"]
            run = {"task": f"polarity-{fold}", "model": model, "seed": 1}
            toy["runs"][f"polarity-{fold}.{model}"] = run
    return load(toy)


def scored(accuracy: float, fold: int) -> dict[str, SplitScores]:
    values = {
        "accuracy": accuracy, "bag_of_words_accuracy": 72.0, "macro_f1": 70.0,
        "calibration_error": 5.0,
    }  # fmt: skip
    return {
        "test": SplitScores.of(
            test_set=TestSet(corpora={f"polarity-fold-{fold}": Part(pairs=4)}, pairs=4, sha256={}),
            scores={name: Score(value=value, signature="x") for name, value in values.items()},
            confusion={
                "negative": {"negative": 1, "positive": 1},
                "positive": {"negative": 1, "positive": 1},
            },
        )
    }


def test_folds_share_a_figure_of_their_training(config: Config) -> None:
    history = History((Line(step=1, epoch=0.1, tokens=9, learning_rate=1e-3, loss=0.7),))
    runs = [run for run in config.runs if run.startswith("polarity")]
    (figure,) = training_curves(config, dict.fromkeys(runs, history))
    assert (figure.name, figure.title) == (
        "training_polarity-0",
        "Training on polarity-0 and 2 more folds",
    )
    assert figure.caption.startswith("2 of 6 runs, one of each model")
    assert {run for run in runs if run in figure.svg} == {"polarity-0.one", "polarity-0.two"}
    assert list(figure.data["run"]) == runs


def test_means_and_published_figures(config: Config, evidence: Callable[..., Evidence]) -> None:
    scores = {
        f"polarity-{fold}.{model}": scored(values[fold], fold)
        for model, values in ACCURACY.items()
        for fold in range(3)
    }
    page_section = section(evidence(config=config, scores=scores))
    means, runs_table = page_section.tables
    rows = {row.cells[0].text: [cell.text for cell in row.cells[1:]] for row in means.rows}
    assert rows["CNN-rand"][2] == "76.1"
    assert rows["one"] == ["ours", "3 of 10", "74.00", "4.00", "72.00"]
    assert rows["two"][2:4] == ["73.00", "3.46"]
    # differences 1, -1, 3: mean 1, deviation 2, error 2 * sqrt(1/3 + 1/8), t 0.739 on 2 degrees
    assert means.notes[-1][1] == "one − two: +1.00 over 3 folds, p = 0.5371."
    assert len(runs_table.rows) == 6
    assert [figure.name for figure in page_section.figures] == ["confusion_polarity-0_one"]
    texts = files(page_section)
    assert "beyond" in " ".join(texts)
    assert texts["figures/confusion_polarity-0_one.csv"].splitlines()[1] == (
        "polarity-0.one,negative,negative,1"
    )


def test_seeds_of_a_fold_count_by_their_mean(
    config: Config, evidence: Callable[..., Evidence]
) -> None:
    second_seed = {"polarity-0.one-s2": config.runs["polarity-0.one"].replace(seed=2)}
    scores = {f"polarity-{fold}.one": scored(ACCURACY["one"][fold], fold) for fold in range(3)}
    scores |= dict.fromkeys(second_seed, scored(76.0, 0))
    with_second_seed = config.replace(runs={**config.runs, **second_seed})
    (row,) = (
        row
        for row in section(evidence(config=with_second_seed, scores=scores)).tables[0].rows
        if row.cells[0].text == "one"
    )
    # 73, 74, 78
    assert [cell.text for cell in row.cells[2:4]] == ["3 of 10", "75.00"]


def test_nothing_run_yet(config: Config, evidence: Callable[..., Evidence]) -> None:
    page_section = section(evidence(config=config, scores=dict.fromkeys(config.runs)))
    (means,) = page_section.tables
    assert {row.tone for row in means.rows} == {"published"}
    assert not page_section.figures


def test_folds_with_equal_differences_have_no_p_value() -> None:
    same = pd.Series({0: 70.0, 1: 75.0, 2: 74.9})
    assert paired_t(same, same, 1 / 8) is paired_t(same + 1.1, same, 1 / 8) is None
    assert paired_t(same, pd.Series({2: 75.0, 3: 1.0}), 1 / 8) is None
