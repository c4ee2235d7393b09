"""The graph as a user runs it, at a scale of seconds: once, again, forced, with a run more."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import yaml
from mlflow import MlflowClient

# of MLflow's tables: SQLAlchemy 2.1 will do away with something that they use

RUN = "en-de.base"
ITEMS = ("", "en-de", RUN)


def graph_runs(root: Path) -> list[Any]:
    """The MLflow runs of the tiny scale, but the report's."""
    client = MlflowClient(f"sqlite:///{root / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("aiayn/tiny")
    of_the_graph = "attributes.run_name != 'report'"
    return list(client.search_runs([experiment.experiment_id], of_the_graph)) if experiment else []


def stages(root: Path) -> dict[str, Any]:
    """What dvc.lock says of the graph's stages; those of the scale before are left out."""
    locked = yaml.safe_load((root / "dvc.lock").read_text())["stages"]
    return {name: entry for name, entry in locked.items() if name.partition("@")[2] in ITEMS}


def locked_outputs(root: Path) -> dict[str, str]:
    """md5 of every output, by path, but of those that may differ between two identical runs."""
    return {
        out["path"]: out["md5"]
        for stage in stages(root).values()
        for out in stage.get("outs", [])
        if "circumstances" not in out["path"]
    }


def test_switching_the_scale_runs_the_whole_graph(made: Any) -> None:
    params = yaml.safe_load((made.root / "params.yaml").read_text())
    assert (params["scale"], [*params["runs"]], [*params["tasks"]]) == ("tiny", [RUN], ["en-de"])
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


def test_mlflow_has_one_run_for_the_run_of_the_graph(made: Any) -> None:
    (run,) = graph_runs(made.root)
    assert (run.info.run_name, run.info.status) == (RUN, "FINISHED")
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


def test_forced_gives_the_same_bytes(made: Any) -> None:
    before = locked_outputs(made.root)
    assert len(before) >= 10
    printed = made.succeed("dvc", "repro", "--force")
    assert printed.count("Running stage") == len(stages(made.root))
    assert locked_outputs(made.root) == before
    assert len(graph_runs(made.root)) == 1


def test_a_run_is_added_in_yaml_alone(made: Any, tmp_path: Path) -> None:
    shutil.copytree(made.root, tmp_path, dirs_exist_ok=True)
    project = type(made)(tmp_path)
    scale = tmp_path / "conf/scale/tiny.yaml"
    first = f"  {RUN}: {{task: en-de, model: base, seed: 1}}\n"
    scale.write_text(scale.read_text().replace(first, first + first.replace("base:", "again:")))
    project.compose("scale=tiny")
    printed = project.succeed("dvc", "repro")
    ran = [line.split("'")[1] for line in printed.splitlines() if line.startswith("Running stage")]
    of_a_run = ("train", "average", "decode", "score")
    assert sorted(ran) == sorted([*(f"{s}@en-de.again" for s in of_a_run), "report", "track"])
    assert {run.info.run_name for run in graph_runs(tmp_path)} == {RUN, "en-de.again"}
    assert "en-de.again" in (tmp_path / "reports/index.html").read_text()
