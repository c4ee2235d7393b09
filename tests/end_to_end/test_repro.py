"""The graph as a user runs it, at a scale of seconds: once, again, forced."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

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


def test_the_whole_graph_has_run(made: Any) -> None:
    params = yaml.load((made.root / "params.yaml").read_text(), yaml.CSafeLoader)
    assert (params["scale"], [*params["runs"]], [*params["tasks"]]) == (
        "tiny", [RUN, ROW], ["en-de"],
    )  # fmt: skip
    index = (made.root / "reports/index.html").read_text()
    assert "scale <strong>tiny</strong>" in index
    assert "Transformer" in (made.root / "reports/tables/table_2.md").read_text()
    scores = json.loads((made.root / f"scores/{RUN}.json").read_text())
    assert set(scores["splits"]) == {"dev", "test"}
    for split in ("dev", "test"):
        hypotheses = (made.root / f"outputs/{RUN}/{split}.hypotheses").read_text()
        assert hypotheses.count("\n") == 20
        assert hypotheses.strip()


def test_only_the_last_checkpoints_are_kept(made: Any) -> None:
    kept = sorted(path.name for path in (made.root / f"models/{RUN}/checkpoints").iterdir())
    assert kept == ["step-0000040.safetensors", "step-0000060.safetensors"]


def test_history_ends_with_a_validation_after_the_last_step(made: Any) -> None:
    with (made.root / f"history/{RUN}.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["step"] for line in lines] == ["15", "30", "45", "60"]
    assert [bool(line["dev_perplexity"]) for line in lines] == [False, True, False, True]


def test_a_row_of_table_3_is_decoded_on_dev_alone_and_compared(made: Any) -> None:
    assert [path.name for path in (made.root / f"outputs/{ROW}").iterdir()] == ["dev.hypotheses"]
    compared = json.loads((made.root / "comparisons/table_3.json").read_text())
    assert [*compared["models"]] == ["base", "C_ff1024"]
    with (made.root / f"history/{ROW}.csv").open() as file:
        last = [*csv.DictReader(file)][-1]["dev_perplexity"]
    assert compared["models"]["C_ff1024"]["perplexity"]["mean"] == round(float(last), 4)
    assert "ours (C\\_ff1024)" in (made.root / "reports/tables/table_3.md").read_text()


def test_mlflow_has_one_run_for_each_run_of_the_graph(made: Any) -> None:
    runs = {run.info.run_name: run for run in graph_runs(made.root)}
    assert {name: run.info.status for name, run in runs.items()} == {
        RUN: "FINISHED", ROW: "FINISHED",
    }  # fmt: skip
    run = runs[RUN]
    scores = json.loads((made.root / f"scores/{RUN}.json").read_text())["splits"]["test"]
    assert run.data.metrics["test/bleu"] == scores["bleu"]["value"]
    assert run.data.metrics["test/chrf"] == scores["chrf"]["value"] > 0


def test_metrics_and_plots_can_be_shown(made: Any) -> None:
    assert f"{RUN}.json" in made.succeed("dvc", "metrics", "show")
    made.succeed("dvc", "plots", "show")
    assert "dev_perplexity" in (made.root / "dvc_plots/index.html").read_text()


def test_again_runs_nothing(made: Any) -> None:
    printed = made.succeed("dvc", "repro")
    assert "Running stage" not in printed
    assert "up to date" in printed


def test_a_forced_experiment_one_stage_after_the_other_gives_the_same_bytes(made: Any) -> None:
    """One run up to its score; nothing else then runs again."""
    before = locked_outputs(made.root)
    assert len(before) >= 10
    forced = made.succeed("dvc", "exp", "run", "--force", "-S", "scale=tiny", f"score@{RUN}")
    assert made.ran(forced) == [
        *(f"{stage}@en-de" for stage in ("download", "train_bpe", "encode")),
        *(f"{stage}@{RUN}" for stage in ("train", "average", "decode", "score")),
    ]
    assert made.ran(made.succeed("dvc", "repro")) == []
    assert locked_outputs(made.root) == before
    assert len(graph_runs(made.root)) == 2
