"""Averaged weights as MLflow models: without a copy, with their scores, and loadable."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import mlflow
import pytest
import torch
import yaml
from mlflow import MlflowClient
from mlflow.entities import LoggedModel
from tests.tracking.store_contents import runs_of

import aiayn
from aiayn import config
from aiayn.data.bpe.vocabulary import Bpe, train_bpe
from aiayn.errors import CheckpointError
from aiayn.model.checkpoints import save_weights
from aiayn.model.transformer import Transformer
from aiayn.results.checkpoints import Weights
from aiayn.tracking.sync import sync

Write = Callable[..., None]
REGISTERED = "aiayn-demo-en-de"
SENTENCES = ["A dog sleeps in the sun.", "Two men are walking."]


@pytest.fixture
def client(root: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{root}/mlflow.db")


def models_of(client: MlflowClient) -> list[LoggedModel]:
    found = client.get_experiment_by_name("aiayn/demo")
    return list(client.search_logged_models([found.experiment_id])) if found else []


def lock_weights(root: Path, run: str, md5: str) -> None:
    """Record averaged weights of a run in dvc.lock."""
    lock = yaml.load((root / "dvc.lock").read_text(), yaml.CSafeLoader)
    outs = [{"path": f"models/{run}/averaged.safetensors", "md5": md5}]
    lock["stages"][f"average@{run}"] = {"cmd": "python pipeline/average.py", "outs": outs}
    (root / "dvc.lock").write_text(yaml.dump(lock, Dumper=yaml.CSafeDumper))


def write_weights(root: Path) -> Path:
    """Random weights of a small en-de.base, its vocabulary and its parameters."""
    row = config.Model(
        N=1, d_model=16, d_ff=32, h=2, d_k=8, d_v=8, P_drop=0.1, eps_ls=0.1, steps=8,
        positions="sinusoid", average=2, checkpoint_steps=2,
    )  # fmt: skip
    params = yaml.load((root / "params.yaml").read_text(), yaml.CSafeLoader)
    params["models"]["base"] = row.model_dump()
    params["tasks"]["en-de"]["decoding"]["extra_length"] = 4
    (root / "params.yaml").write_text(yaml.dump(params, sort_keys=False, Dumper=yaml.CSafeDumper))
    (root / "text").write_text("".join(f"{sentence}\n" for sentence in SENTENCES * 5))
    (root / "data/bpe").mkdir()
    vocabulary = config.Bpe(vocabulary=300, normalization="identity")
    train_bpe([root / "text"], root / "data/bpe/en-de", vocabulary)
    size = Bpe(root / "data/bpe/en-de/model.model").size
    torch.manual_seed(1)
    model = Transformer(row, size, max_length=32)
    path = root / "models/en-de.base/averaged.safetensors"
    path.parent.mkdir(parents=True)
    about = Weights(run="en-de.base", model=row.model_dump(), seed=1, max_length=32, step=8)
    save_weights(path, model.state_dict(), about)
    return path


@pytest.mark.filterwarnings("ignore:.*type hint:UserWarning")  # MLflow's own warning
def test_a_registered_model_translates(
    root: Path, write_results: Write, write_lock: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results("en-de.base")
    weights = write_weights(root)
    write_lock()
    lock_weights(root, "en-de.base", hashlib.md5(weights.read_bytes()).hexdigest())
    assert sync(config.load(root / "params.yaml"), root).written == 1
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{root}/mlflow.db")
    monkeypatch.chdir("/")
    expected = aiayn.load("en-de.base", root).translate(SENTENCES)
    uri = f"models:/{REGISTERED}@base"
    mlflow.set_tracking_uri(f"sqlite:///{root}/mlflow.db")
    assert mlflow.pyfunc.load_model(uri).predict(SENTENCES) == expected

    elsewhere = root.with_name("elsewhere")
    root.rename(elsewhere)
    elsewhere.joinpath("mlflow.db").rename(root.with_name("mlflow.db"))
    model = elsewhere / "mlartifacts"
    root.mkdir()
    model.rename(root / "mlartifacts")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{root.parent}/mlflow.db")
    mlflow.set_tracking_uri(f"sqlite:///{root.parent}/mlflow.db")
    with pytest.raises(CheckpointError, match=r"averaged.safetensors: not there\. In that folder"):
        mlflow.pyfunc.load_model(uri)
    moved = {"root": str(elsewhere)}
    assert mlflow.pyfunc.load_model(uri, model_config=moved).predict(SENTENCES) == expected
    with (elsewhere / "models/en-de.base/averaged.safetensors").open("ab") as file:
        file.write(b"x")
    with pytest.raises(CheckpointError, match="other weights than those of this model"):
        mlflow.pyfunc.load_model(uri, model_config=moved)


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
    assert model.tags["weights.md5"] == run.data.tags["weights.md5"] == "d" * 32
    assert model.params["d_model"] == str(params.models["base"].d_model)
    measured = {metric.key: metric.value for metric in model.metrics}
    # dev was scored with the last checkpoint
    assert measured == {"test/bleu": 31.4}
    assert {(m.dataset_name, m.dataset_digest) for m in model.metrics} == {
        ("en-de/test", "a" * 32 + ".dir")
    }
    files = [path for path in (root / "mlartifacts").rglob("*") if path.is_file()]
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
    (registered,) = client.search_registered_models()
    assert (registered.name, set(registered.aliases)) == (REGISTERED, {"base", "big"})
    for row, md5 in (("base", "d" * 32), ("big", "8" * 32)):
        version = client.get_model_version_by_alias(REGISTERED, row)
        assert version.tags["weights.md5"] == md5
        assert client.get_run(str(version.run_id)).info.run_name == f"en-de.{row}"
        assert f"dvc repro average@en-de.{row}" in version.description


def test_an_alias_follows_the_weights_there_and_back(
    root: Path, params: config.Config, write_results: Write, write_lock: Write, client: MlflowClient
) -> None:
    write_results("en-de.base")
    metadata = root / "run_metadata/en-de.base.train.json"
    for fingerprint, md5 in (("f1", "1"), ("f2", "2"), ("f1", "1")):
        write_lock()
        lock_weights(root, "en-de.base", md5 * 32)
        metadata.write_text(
            metadata.read_text().replace("f1", fingerprint).replace("f2", fingerprint)
        )
        sync(params, root)
        version = client.get_model_version_by_alias(REGISTERED, "base")
        assert version.tags["weights.md5"] == md5 * 32
    assert (
        len(models_of(client)) == len(client.search_model_versions(f"name = '{REGISTERED}'")) == 2
    )


def test_without_dvcs_digest_there_is_no_model(
    root: Path, params: config.Config, write_results: Write, client: MlflowClient
) -> None:
    write_results("en-de.base")
    sync(params, root)
    assert models_of(client) == []
    assert list(client.search_registered_models()) == []


def test_an_experiment_in_a_temporary_folder_makes_a_run_but_no_model(
    root: Path, params: config.Config, write_results: Write, write_lock: Write, client: MlflowClient
) -> None:
    folder = root / ".dvc/tmp/exps/temporary"
    write_results("en-de.base", folder)
    write_lock()
    for name in ("params.yaml", "dvc.lock"):
        shutil.copy(root / name, folder)
    assert sync(params, folder).written == 1
    (run,) = runs_of(root)
    assert run.data.tags["weights.md5"] == "d" * 32
    assert models_of(client) == []
