"""A store that is created once (MLflow's migrations take seconds), and hand-made results."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from aiayn import config
from aiayn.tracking import live
from aiayn.tracking.store import connect, import_mlflow

import_mlflow()  # with our defaults, before a test imports it

REPOSITORY = Path(__file__).parents[2]
FINGERPRINT = "f1" * 32
HISTORY = """step,epoch,tokens,learning_rate,loss,dev_loss,dev_perplexity
20,0.1,20000,0.000125,6.123456,,
40,0.2,40000,0.00025,5.5,,
60,0.3,60000,0.000375,4.25,4.125,61.867809
"""


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("empty")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        connect("another", root)
    return root / "mlflow.db"


@pytest.fixture
def root(tmp_path: Path, empty_database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a project with the demo's parameters and an empty store."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(empty_database, tmp_path / "mlflow.db")
    shutil.copyfile(REPOSITORY / "params.yaml", tmp_path / "params.yaml")
    return tmp_path


@pytest.fixture
def params(root: Path) -> config.Config:
    return config.load(root / "params.yaml")


@pytest.fixture
def write_results(root: Path) -> Callable[..., None]:
    """Writes the files of a run of en-de."""

    def write(run: str, folder: Path = root) -> None:
        def put(path: str, content: str) -> None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")

        put(f"history/{run}.csv", HISTORY)
        put(
            f"run_metadata/{run}.train.json",
            json.dumps(
                {
                    "fingerprint": FINGERPRINT,
                    "started": "2026-01-02T03:04:05+00:00",
                    "ended": "2026-01-02T03:05:05+00:00",
                    "seconds": 60.0,
                    "validation_seconds": 2.5,
                    "tokens_per_second": 1000,
                    "starts": 1,
                    "processes": 2,
                    "threads": 1,
                    "precision": "float32",
                    "matmul": "highest",
                    "padding_share": 0.05,
                    "parameters": 1234,
                    "host": "hand-made",
                    "device": "cpu: made by hand",
                    "python": "3.11.0",
                    "versions": {"torch": "2.13.0"},
                    "commit": "4f2a" * 10 + "-dirty",
                }
            ),
        )
        put(
            f"run_metadata/{run}.decode.json",
            json.dumps({"sentences": 3, "seconds": 7.5, "sentences_per_second": 0.4}),
        )
        bleu = {"value": 31.4, "low": 30.5, "high": 32.25, "signature": "nrefs:1|case:mixed"}
        test_set = {"corpora": {"demo": {"pairs": 2}}, "pairs": 2, "sha256": {"source": "5" * 64}}
        dev = {"value": 33, "signature": "nrefs:1"}
        scores = {"test": {"set": test_set, "bleu": bleu}, "dev": {"set": test_set, "bleu": dev}}
        about = {"run": run, "task": "en-de", "model": run.partition(".")[2]}
        put(f"scores/{run}.json", json.dumps({**about, "splits": scores}))
        put("data/text/en-de/test.source", "a house\ntwo\u2028halves, one line\n")
        put("data/text/en-de/test.target", "ein Haus\nzwei Hälften\n")
        put(f"outputs/{run}/test.hypotheses", "ein Haus\n<script>\n")
        split = {**test_set, "words": {"source": 5, "target": 4}}
        manifest = {
            "task": "en-de", "languages": {"source": "en", "target": "de"}, "form": "raw",
            "cleaning": {}, "downloads": {},
            "splits": dict.fromkeys(("train", "dev", "test"), split),
        }  # fmt: skip
        put("data/text/en-de/manifest.json", json.dumps(manifest))
        put("reports/figures/training_loss.svg", "<svg/>")

    return write


@pytest.fixture
def write_lock(root: Path) -> Callable[..., None]:
    """Writes a dvc.lock of en-de.base with today's parameters."""

    def write(**changed: object) -> None:
        params = yaml.load((root / "params.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
        lock = {
            "schema": "2.0",
            "stages": {
                "download@en-de": {
                    "cmd": "python pipeline/download.py en-de",
                    "outs": [{"path": "data/text/en-de", "hash": "md5", "md5": "a" * 32 + ".dir"}],
                },
                "train@en-de.base": {
                    "cmd": "python pipeline/train.py en-de.base",
                    "params": {
                        "params.yaml": {
                            "models.base": {**params["models"]["base"], **changed},
                            "training": params["training"],
                        }
                    },
                    "outs": [
                        {"path": "run_metadata/en-de.base.train.json", "md5": "b" * 32},
                        {"path": "history/en-de.base.csv", "md5": "c" * 32},
                    ],
                },
                "average@en-de.base": {
                    "cmd": "python pipeline/average.py en-de.base",
                    "outs": [{"path": "models/en-de.base/averaged.safetensors", "md5": "d" * 32}],
                },
                "train@en-fr.base": {"cmd": "python pipeline/train.py en-fr.base"},
            },
        }
        (root / "dvc.lock").write_text(yaml.dump(lock, Dumper=yaml.CSafeDumper), encoding="utf-8")

    return write


@pytest.fixture(autouse=True)
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings in tests are logged live although they are short; on a busy machine their store
    may be slow."""
    monkeypatch.setattr(live, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(live, "CLOSE_SECONDS", 300.0)
