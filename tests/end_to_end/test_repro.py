"""The graph as a user runs it, at a scale of seconds: once, again, forced."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from mlflow import MlflowClient

RUN, ROW = "en-de.base", "en-de.C_ff1024"
ITEMS = ("", "en-de", RUN, ROW)


def graph_runs(root: Path) -> list[Any]:
    """The MLflow runs of the tiny scale, but the report's."""
    client = MlflowClient(f"sqlite:///{root / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("aiayn/tiny")
    of_the_graph = "attributes.run_name != 'report'"
    return list(client.search_runs([experiment.experiment_id], of_the_graph)) if experiment else []


def stages(root: Path) -> dict[str, Any]:
    """What dvc.lock says of the graph's stages; those of the scale before are left out."""
    locked = yaml.load((root / "dvc.lock").read_text(), yaml.CSafeLoader)["stages"]
    return {name: entry for name, entry in locked.items() if name.partition("@")[2] in ITEMS}


def locked_outputs(root: Path) -> dict[str, str]:
    """md5 of every output, by path, but of those that may differ between two identical runs."""
    return {
        out["path"]: out["md5"]
        for stage in stages(root).values()
        for out in stage.get("outs", [])
        if "run_metadata" not in out["path"]
    }


def test_the_whole_graph_has_run(finished: Any) -> None:
    params = yaml.load((finished.root / "params.yaml").read_text(), yaml.CSafeLoader)
    assert (params["scale"], [*params["runs"]], [*params["tasks"]]) == (
        "tiny", [RUN, ROW], ["en-de"],
    )  # fmt: skip
    index = (finished.root / "reports/index.html").read_text()
    assert "scale <strong>tiny</strong>" in index
    assert "Transformer" in (finished.root / "reports/tables/table_2.md").read_text()
    scores = json.loads((finished.root / f"scores/{RUN}.json").read_text())
    assert set(scores["splits"]) == {"dev", "test"}
    for split in ("dev", "test"):
        hypotheses = (finished.root / f"outputs/{RUN}/{split}.hypotheses").read_text()
        assert hypotheses.count("\n") == 20
        assert hypotheses.strip()


def test_only_the_last_checkpoints_are_kept(finished: Any) -> None:
    kept = sorted(path.name for path in (finished.root / f"models/{RUN}/checkpoints").iterdir())
    assert kept == ["step-0000040.safetensors", "step-0000060.safetensors"]


def test_history_ends_with_a_validation_after_the_last_step(finished: Any) -> None:
    with (finished.root / f"history/{RUN}.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["step"] for line in lines] == ["15", "30", "45", "60"]
    assert [bool(line["dev_perplexity"]) for line in lines] == [False, True, False, True]


def test_a_row_of_table_3_is_decoded_on_dev_alone_and_compared(finished: Any) -> None:
    assert [path.name for path in (finished.root / f"outputs/{ROW}").iterdir()] == [
        "dev.hypotheses"
    ]
    compared = json.loads((finished.root / "comparisons/table_3.json").read_text())
    assert [*compared["models"]] == ["base", "C_ff1024"]
    with (finished.root / f"history/{ROW}.csv").open() as file:
        last = [*csv.DictReader(file)][-1]["dev_perplexity"]
    assert compared["models"]["C_ff1024"]["perplexity"]["mean"] == round(float(last), 4)
    assert "ours (C\\_ff1024)" in (finished.root / "reports/tables/table_3.md").read_text()


def test_mlflow_has_one_run_for_each_run_of_the_graph(made: Any) -> None:
    runs = {run.info.run_name: run for run in graph_runs(made.root)}
    assert {name: run.info.status for name, run in runs.items()} == {
        RUN: "FINISHED", ROW: "FINISHED",
    }  # fmt: skip
    run = runs[RUN]
    scores = json.loads((made.root / f"scores/{RUN}.json").read_text())["splits"]["test"]
    assert run.data.metrics["test/bleu"] == scores["bleu"]["value"]
    assert run.data.metrics["test/chrf"] == scores["chrf"]["value"] > 0


def test_metrics_can_be_shown(finished: Any) -> None:
    assert f"{RUN}.json" in finished.succeed("dvc", "metrics", "show")


@pytest.mark.parametrize(
    ("title", "column"), [("Dev perplexity", "dev_perplexity"), ("Training loss", "loss")]
)
def test_dvc_draws_the_curves_of_all_runs_in_one_plot(
    finished: Any, title: str, column: str
) -> None:
    """Nothing is drawn where a step was not validated: Vega takes an empty cell for 0."""
    drawn = json.loads(finished.succeed("dvc", "plots", "show", "--json"))["data"]
    names = [*drawn]
    assert names.index(title) < 2
    # DVC's page sorts pictures by name
    assert names[2] == "reports/figures/claims.svg"
    assert {name.partition("_")[0] for name in names[3:]} == {"reports/figures/table"}
    (plot,) = drawn[title]
    chart = plot["content"]
    encoding = chart["spec"]["encoding"]
    assert [encoding[axis]["field"] for axis in ("x", "y", "color")] == ["step", column, "run"]
    (transform,) = chart["transform"]
    assert f"datum['{column}'] !== ''" in transform["filter"].split(" && ")
    shown = [
        (row["run"], row["step"], float(row[column]))
        for row in chart["data"]["values"]
        if row[column] != ""
    ]
    recorded = []
    for run in (RUN, ROW):
        with (finished.root / f"history/{run}.csv").open() as file:
            lines = [line for line in csv.DictReader(file) if line[column]]
        recorded += [(run, line["step"], float(line[column])) for line in lines]
    assert shown == recorded
    assert len(recorded) == {"dev_perplexity": 4, "loss": 8}[column]


def test_again_runs_nothing(finished: Any) -> None:
    printed = finished.succeed("dvc", "repro")
    assert "Running stage" not in printed
    assert "up to date" in printed


def test_a_forced_experiment_one_stage_after_the_other_gives_the_same_bytes(finished: Any) -> None:
    """One run up to its score; nothing else then runs again."""
    before = locked_outputs(finished.root)
    assert len(before) >= 10
    forced = finished.succeed("dvc", "exp", "run", "--force", f"score@{RUN}")
    assert finished.ran(forced) == [
        *(f"{stage}@en-de" for stage in ("sources", "download", "train_bpe", "encode")),
        *(f"{stage}@{RUN}" for stage in ("train", "average", "decode", "score")),
    ]
    assert finished.ran(finished.succeed("dvc", "repro")) == []
    assert locked_outputs(finished.root) == before
    finished.succeed("aiayn", "sync")
    assert len(graph_runs(finished.root)) == 2
