"""A synced store, served by MLflow itself: the documented searches find the right runs in its REST
API and in its UI in a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiayn import config
from aiayn.results import metadata, paths
from aiayn.results.metadata import TrainingMetadata
from aiayn.results.text import Manifest, Part, Split, write_manifest
from aiayn.tracking.searches import SEARCHES, Search, link
from aiayn.tracking.sync import sync

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=15000",
)  # fmt: skip
RUNS = {  # BLEU on dev, or F1 on test
    "en-de.base": 30.0,
    "en-de.base-s2": 25.0,
    "en-de.C_N2": 20.5,
    "en-de.A_h1": 24.5,
    "en-de.E_learned": 22.5,
    "parsing.parser": 80.0,
}
VARIATIONS = {"C_N2": "lower", "A_h1": "undecided", "E_learned": "undecided"}
ROWS = {run for run in RUNS if run.startswith("en-de.")}
OVER_SEEDS = "en-de.base over seeds"
EXPECTED = {
    "All runs": {*RUNS, OVER_SEEDS, "report"},
    "Table 2": {"en-de.base"},
    "Table 3": {*ROWS, OVER_SEEDS},
    "Table 3, rows (C)": {"en-de.C_N2"},
    "BLEU differs by more than the seeds' noise": {"en-de.C_N2"},
    "Table 4": {"parsing.parser"},
    "One seed": set(RUNS) - {"en-de.base-s2"},
    "Trained from a clean commit": {"parsing.parser"},
    "By training data": ROWS,
    "The report": {"report"},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six runs of the demo and a report, synced."""
    root = tmp_path_factory.mktemp("synced")
    shutil.copy(ROOT / "params.yaml", root)

    def put(path: str, content: object) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (root / path).write_text(text)

    for n, (run, value) in enumerate(RUNS.items()):
        put(
            f"history/{run}.csv",
            "step,epoch,tokens,learning_rate,loss,dev_loss,dev_perplexity\n20,1,9,0.1,2.5,2.0,7.5\n",
        )
        commit = "4f2a" * 10 + ("" if run == "parsing.parser" else "-dirty")
        trained = TrainingMetadata(
            host="h", device="cpu: one", python="3", versions={}, commit=commit, fingerprint=f"f{n}",
            seconds=9.0, validation_seconds=1.0, tokens_per_second=9, starts=1,
            started="2026-01-02T03:04:05+00:00", ended="2026-01-02T03:04:14+00:00", processes=1,
            threads=1, precision="float32", matmul="highest", padding_share=0.1, parameters=9,
        )  # fmt: skip
        metadata.write(root / paths.training_metadata(run), trained)
        score = {"value": value, "signature": "s"}
        test_set = {"corpora": {"demo": {"pairs": 2}}, "pairs": 2, "sha256": {"source": "5" * 64}}
        splits = {"dev": {"set": test_set, "bleu": score}}
        if run == "parsing.parser":
            splits = {"test": {"set": test_set, "bracket_f1": score}}
        elif run == "en-de.base":
            splits["test"] = {"set": test_set, "bleu": score}
        task, _, model = run.removesuffix("-s2").partition(".")
        put(f"scores/{run}.json", {"run": run, "task": task, "model": model, "splits": splits})
    train = Split(
        corpora={"demo": Part(pairs=2)}, pairs=2, words={"source": 4, "target": 4},
        sha256={"source": "5" * 64},
    )  # fmt: skip
    manifest = Manifest(
        task="en-de", form="raw", languages={}, cleaning={}, downloads={}, splits={"train": train}
    )
    write_manifest(root / "data/text/en-de/manifest.json", manifest)
    models = {
        model: {
            "perplexity": {"mean": 4.5, "outcome": "undecided"},
            "bleu": {"mean": RUNS[f"en-de.{model}"], "outcome": outcome},
            "seeds": {"1": {"run": f"en-de.{model}", "perplexity": 4.5, "bleu": 20.0}},
        }
        for model, outcome in {"base": "undecided", **VARIATIONS}.items()
    }
    put(
        "comparisons/table_3.json",
        {
            "task": "en-de", "base": "base", "split": "dev", "signature": "s", "modes": {}, "findings": {}, "models": models,
            "test_set": {"corpora": {}, "pairs": 9, "sha256": {}},
        },
    )  # fmt: skip
    put("reports/index.html", "<!doctype html>")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        assert sync(config.load(root / "params.yaml"), root).runs == len(RUNS)
    return root


@pytest.fixture(scope="module")
def server(project: Path) -> Iterator[str]:
    """The address of the server that `make ui` starts over the synced store."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # MLflow leaves the address that another test set in the environment
    others = {key: text for key, text in os.environ.items() if key != "MLFLOW_TRACKING_URI"}
    process = subprocess.Popen(
        ["make", "-f", ROOT / "Makefile", "-o", ".venv/.ready", "ui"],
        cwd=project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**others, "PATH": path, "MLFLOW_PORT": str(port)},
    )
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.2)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def post(server: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{server}/api/2.0/mlflow/{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        content: dict[str, Any] = json.load(answer)
    return content


def experiment(server: str) -> dict[str, Any]:
    (found,) = post(
        server, "experiments/search", {"max_results": 9, "filter": "name = 'aiayn/demo'"}
    )["experiments"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.title)
def test_a_documented_search_finds_the_right_runs(server: str, search: Search) -> None:
    order = f"metrics.`{search.metric}` {'DESC' if search.descending else 'ASC'}"
    body = {
        "experiment_ids": [experiment(server)["experiment_id"]],
        "filter": search.filter,
        "order_by": [order],
    }
    runs = post(server, "runs/search", body).get("runs", [])
    assert {run["info"]["run_name"] for run in runs} == EXPECTED[search.title]
    metrics = [{m["key"]: m["value"] for m in run["data"].get("metrics", [])} for run in runs]
    values = [run_metrics[search.metric] for run_metrics in metrics if search.metric in run_metrics]
    assert values == sorted(values, reverse=search.descending)


def test_the_experiment_explains_its_searches(server: str) -> None:
    found = experiment(server)
    note = next(tag["value"] for tag in found["tags"] if tag["key"] == "mlflow.note.content")
    for search in SEARCHES:
        assert search.filter in note
        assert link(search, found["experiment_id"]) in note


def test_the_documentation_names_searches_that_exist() -> None:
    text = (ROOT / "docs/howto/use.md").read_text()
    shown = [search.filter for search in SEARCHES if search.filter in text]
    assert len(shown) >= 4


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize(
    ("title", "shown"),
    [("Table 3", {"dev/bleu", "30", "25", "20.5", "24.5"}), ("The report", set())],
)
def test_the_ui_lists_the_runs_of_a_link(
    server: str, tmp_path: Path, title: str, shown: set[str]
) -> None:
    """On a screen of 1280 pixels, with the scores that are compared."""
    assert CHROMIUM
    search = next(search for search in SEARCHES if search.title == title)
    experiment_id = experiment(server)["experiment_id"]
    runs = post(server, "runs/search", {"experiment_ids": [experiment_id]})["runs"]
    page = f"{server}/{link(search, experiment_id)}"
    profile = f"--user-data-dir={tmp_path}"
    command = [CHROMIUM, *QUIET, profile, "--window-size=1280,900", "--dump-dom", page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    listed = {
        run["info"]["run_name"] for run in runs if f"/runs/{run['info']['run_id']}" in done.stdout
    }
    assert listed == EXPECTED[title]
    assert shown <= set(re.findall(r">([^<>]+)<", done.stdout))
