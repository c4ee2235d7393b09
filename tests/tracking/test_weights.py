"""Averaged checkpoints in MLflow: by reference, with the scores that are theirs, once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from mlflow import MlflowClient
from mlflow.entities import LoggedModel

from aiayn import config
from aiayn.tracking.sync import sync
from aiayn.tracking.weights import Models

Write = Callable[..., None]
SHELF = "aiayn-demo-en-de"


@pytest.fixture
def client(root: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{root}/mlflow.db")


def models_of(client: MlflowClient) -> list[LoggedModel]:
    found = client.get_experiment_by_name("aiayn/demo")
    return list(client.search_logged_models([found.experiment_id])) if found else []


def lock_weights(root: Path, run: str, md5: str) -> None:
    """Let dvc.lock have averaged weights of a run."""
    lock = yaml.load((root / "dvc.lock").read_text(), yaml.CSafeLoader)
    outs = [{"path": f"models/{run}/averaged.safetensors", "md5": md5}]
    lock["stages"][f"average@{run}"] = {"cmd": "python pipeline/average.py", "outs": outs}
    (root / "dvc.lock").write_text(yaml.dump(lock, Dumper=yaml.CSafeDumper))


def test_averaged_weights_are_a_model_without_a_copy(
    root: Path, params: config.Config, write_results: Write, write_lock: Write, client: MlflowClient
) -> None:
    for name in ("en-de.base", "en-de.C_N2"):  # table 3's rows have no average
        write_results(name)
    write_lock()
    weights = root / "models/en-de.base/averaged.safetensors"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"so many bytes of weights")
    sync(params, root)
    (model,) = models_of(client)
    run = client.get_run(str(model.source_run_id))
    assert (model.name, run.info.run_name) == ("en-de-base", "en-de.base")
    assert (str(model.status), model.model_type) == ("READY", "translation")
    assert [output.model_id for output in run.outputs.model_outputs] == [model.model_id]
    assert model.tags["weights.path"] == "models/en-de.base/averaged.safetensors"
    assert model.tags["weights.md5"] == "d" * 32
    assert model.tags["commit"] == "4f2a" * 10
    assert model.params["d_model"] == str(params.models["base"].d_model)
    held = {metric.key: metric.value for metric in model.metrics}
    # dev was scored with the last checkpoint
    assert held == {"test/bleu": 31.4, "test/bleu_low": 30.5, "test/bleu_high": 32.25}
    assert {(m.dataset_name, m.dataset_digest) for m in model.metrics} == {
        ("en-de/test", "a" * 32 + ".dir")
    }
    files = [path for path in (root / "mlartifacts").rglob("*") if path.is_file()]
    assert [path.name for path in files if "/models/" in str(path)] == ["MLmodel"]
    assert not [path for path in files if b"so many bytes" in path.read_bytes()]
    assert [p.value for p in client.get_metric_history(run.info.run_id, "test/bleu")] == [31.4]


def test_a_row_of_table_2_is_an_alias(
    root: Path, params: config.Config, write_results: Write, write_lock: Write, client: MlflowClient
) -> None:
    for run in ("en-de.base", "en-de.big", "parsing.parser"):
        write_results(run)
    write_lock()
    lock_weights(root, "en-de.big", "8" * 32)
    lock_weights(root, "parsing.parser", "9" * 32)
    sync(params, root)
    assert {model.name for model in models_of(client)} == {
        "en-de-base", "en-de-big", "parsing-parser",
    }  # fmt: skip
    (shelf,) = client.search_registered_models()
    assert (shelf.name, set(shelf.aliases)) == (SHELF, {"base", "big"})
    for row, md5 in (("base", "d" * 32), ("big", "8" * 32)):
        version = client.get_model_version_by_alias(SHELF, row)
        assert version.tags["weights.md5"] == md5
        assert client.get_run(str(version.run_id)).info.run_name == f"en-de.{row}"
        assert f"dvc repro average@en-de.{row}" in version.description


def test_an_alias_follows_the_weights_there_and_back(
    root: Path, params: config.Config, write_results: Write, write_lock: Write, client: MlflowClient
) -> None:
    write_results("en-de.base")
    for md5 in ("1" * 32, "2" * 32, "1" * 32):
        write_lock()
        lock_weights(root, "en-de.base", md5)
        sync(params, root)
        held = client.get_model_version_by_alias(SHELF, "base")
        assert held.tags["weights.md5"] == md5
    assert len(models_of(client)) == len(client.search_model_versions(f"name = '{SHELF}'")) == 2


def test_a_store_of_runs_alone_is_given_their_models(
    root: Path, params: config.Config, write_results: Write, write_lock: Write,
    client: MlflowClient, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Of an earlier version, or of a sync that was killed on the way."""
    write_results("en-de.base")
    write_lock()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    for part in ("_finalize", "_link", "_add_metrics", "shelve"):
        with monkeypatch.context() as patch:
            patch.setattr(Models, part, killed)
            with pytest.raises(KeyboardInterrupt):
                sync(params, root)
    assert sync(params, root).complaints == []
    (model,) = models_of(client)
    assert str(model.status) == "READY"
    assert sorted(m.key for m in model.metrics) == ["test/bleu", "test/bleu_high", "test/bleu_low"]
    run = client.get_run(str(model.source_run_id))
    assert len(run.outputs.model_outputs) == 1
    assert [p.value for p in client.get_metric_history(run.info.run_id, "test/bleu")] == [31.4]
    assert client.get_model_version_by_alias(SHELF, "base").run_id == run.info.run_id


def test_without_dvcs_digest_there_is_no_model(
    root: Path, params: config.Config, write_results: Write, client: MlflowClient
) -> None:
    write_results("en-de.base")
    sync(params, root)
    assert models_of(client) == []
    assert list(client.search_registered_models()) == []
