"""A row of one's own, in YAML alone; and how little is trained again when a parameter changes."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

RUN = "en-de.wide"
MODEL_LINE = "  C_ff1024: {<<: *base, d_ff: 32}\n"
RUN_LINE = "  en-de.C_ff1024: {<<: *run, model: C_ff1024}\n"
OTHER = """# @package _global_
defaults:
  - tiny
scale: other
catalogue: {corpora: {demo-train: {grammar: {sentences: 500}}}}
"""
# what a row's change reaches: its own stages, and those that look at all rows
REACHED = {
    *(f"{stage}@{RUN}" for stage in ("train", "decode", "score")),
    "profile_models", "compare", "report", "track",
}  # fmt: skip


def done(printed: str) -> list[str]:
    """The stages that `aiayn repro` ran."""
    return [line.partition(": ")[0] for line in printed.splitlines() if ": done in " in line]


@pytest.fixture(scope="module")
def added(made: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    """The tiny project with a model and a run more, and what `aiayn repro` printed."""
    project = type(made)(tmp_path_factory.mktemp("added"))
    # MLflow's store names the folder in which it was made
    store = shutil.ignore_patterns("mlflow.db", "mlartifacts")
    shutil.copytree(made.root, project.root, symlinks=True, dirs_exist_ok=True, ignore=store)
    scale = project.root / "conf/scale/tiny.yaml"
    text = scale.read_text()
    for line, more in (
        (MODEL_LINE, "  wide: {<<: *base, h: 4}\n"),
        (RUN_LINE, f"  {RUN}: {{<<: *run, model: wide}}\n"),
    ):
        assert line in text
        text = text.replace(line, line + more)
    scale.write_text(text)
    project.compose("scale=tiny")
    outcome = project.run("aiayn", "repro", "--jobs", "1")
    assert outcome.returncode == 0, outcome.stderr
    return project, outcome.stderr


def test_a_new_row_is_trained_and_nothing_else(added: tuple[Any, str]) -> None:
    project, printed = added
    assert {*done(printed)} == REACHED
    listed = project.succeed("dvc", "stage", "list", "--name-only").split()
    assert {stage for stage in listed if stage.endswith(RUN)} == REACHED & {*listed} - {
        "profile_models", "compare", "report", "track",
    }  # fmt: skip


def test_a_new_row_is_in_table_figures_and_mlflow(added: tuple[Any, str]) -> None:
    reports: Path = added[0].root / "reports"
    assert "| ours (wide) |  |  |  | 4 | 8 | 8 |" in (reports / "tables/table_3.md").read_text()
    for name in ("table_3_bleu", "table_3_perplexity"):
        with (reports / f"figures/{name}.csv").open() as file:
            places = [
                (line["varied"], line["x"])
                for line in csv.DictReader(file)
                if line["row"] == "wide"
            ]
        assert places == [("h", "4")]
    client = MlflowClient(f"sqlite:///{added[0].root / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("aiayn/tiny")
    assert experiment is not None
    names = [run.info.run_name for run in client.search_runs([experiment.experiment_id])]
    assert sorted(names) == ["en-de.C_ff1024", "en-de.base", RUN, "report"]


def test_one_rows_parameter_trains_that_row_and_back_again_none(added: tuple[Any, str]) -> None:
    project, _ = added
    project.compose("scale=tiny", "models.wide.P_drop=0.2")
    # a dry run does not look beyond stages whose outputs it cannot know
    planned = set(project.ran(project.succeed("dvc", "repro", "--dry")))
    assert {f"train@{RUN}"} <= planned <= REACHED
    assert project.ran(project.succeed("dvc", "repro", f"train@{RUN}")) == [f"train@{RUN}"]
    (project.root / "conf/scale/other.yaml").write_text(OTHER)
    project.compose("scale=other")
    data = [f"{stage}@en-de" for stage in ("sources", "download", "train_bpe", "encode")]
    assert project.ran(project.succeed("dvc", "repro", data[-1])) == data
    project.compose("scale=tiny")
    printed = project.succeed("dvc", "repro")
    assert project.ran(printed) == []
    for stage in (*data, f"train@{RUN}"):
        assert f"Stage '{stage}' is cached - skipping run" in printed
