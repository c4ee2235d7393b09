"""Live logging reaches the store, and no store can delay or break a training."""

from __future__ import annotations

import logging
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from mlflow.entities import Run
from tests.tracking.store_contents import history, runs_of

from aiayn.tracking import live
from aiayn.tracking.identity import RunIdentity
from aiayn.tracking.live import LiveRun, live_run
from aiayn.tracking.store import connect

# only waiting for a store takes longer, however busy the machine is
NO_WAIT_SECONDS = 20
ROW = {"step": 1, "epoch": 0.5, "tokens": 9, "learning_rate": 1e-3, "loss": 2.0, "dev_loss": None}
Log = pytest.LogCaptureFixture


def identity(run: str = "en-de.base", fingerprint: str = "f1" * 32) -> RunIdentity:
    return RunIdentity(scale="demo", run=run, task="en-de", model="base", fingerprint=fingerprint)


def steps(root: Path, run: Run, metric: str) -> list[int]:
    return [step for step, _ in history(root, run, metric)]


def wait_until_open(run: LiveRun) -> None:
    deadline = time.monotonic() + 60
    while run.run_id is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setattr(live, "CLOSE_SECONDS", 0.3)


@pytest.fixture
def refused_port() -> Iterator[int]:
    """A port that refuses connections, and that no other process can take."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield listening.getsockname()[1]


def test_a_training_is_logged(root: Path, caplog: Log) -> None:
    with live_run(identity(), {"N": 6}) as run:
        run.log(20, {"step": 20, "loss": 1 / 20, "dev_loss": None})
        wait_until_open(run)
        run.log(40, {"step": 40, "loss": 1 / 40, "dev_loss": 0.5})
    (logged,) = runs_of(root)
    assert caplog.messages == []
    assert logged.info.run_id == run.run_id
    assert (logged.info.run_name, logged.info.status) == ("en-de.base", "FINISHED")
    assert logged.data.params == {"N": "6"}
    assert steps(root, logged, "train/loss") == [20, 40]
    assert steps(root, logged, "dev/loss") == [40]
    assert set(logged.data.metrics) == {"train/loss", "dev/loss"}


def test_a_resumed_training_continues_in_the_same_run(root: Path) -> None:
    with suppress(KeyboardInterrupt), live_run(identity(), {"N": 6}) as first:
        for step in (20, 40):
            first.log(step, {"loss": 1 / step, "tokens_per_second": 100})
        wait_until_open(first)
        raise KeyboardInterrupt
    assert runs_of(root)[0].info.status == "KILLED"
    with live_run(identity(), {"N": 6}) as second:
        for step in (40, 60):  # 40 again: the last checkpoint was older
            second.log(step, {"loss": 1 / step, "tokens_per_second": 200})
        wait_until_open(second)
    (logged,) = runs_of(root)
    assert logged.info.run_id == first.run_id == second.run_id
    assert logged.info.status == "FINISHED"
    assert steps(root, logged, "train/loss") == [20, 40, 60]
    assert steps(root, logged, "train/tokens_per_second") == [20, 40, 60]


def test_another_fingerprint_or_name_is_another_run(root: Path) -> None:
    for run_identity in (identity(), identity(fingerprint="f2" * 32), identity(run="en-de.big")):
        with live_run(run_identity, {}) as run:
            wait_until_open(run)
    names = sorted(run.info.run_name for run in runs_of(root))
    assert names == ["en-de.base", "en-de.base", "en-de.big"]


def test_system_metrics_are_logged_where_the_user_turns_them_on(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING", "true")
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "0.01")
    deadline = time.monotonic() + 60
    with live_run(identity(), {}) as run:
        run.log(20, ROW)
        while not any("system/cpu_utilization_percentage" in r.data.metrics for r in runs_of(root)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    (logged,) = runs_of(root)
    assert [r.message for r in caplog.records if r.name == live.__name__] == []
    assert (logged.info.status, logged.data.metrics["train/loss"]) == ("FINISHED", 2.0)


def test_a_failed_training_is_marked(root: Path) -> None:
    with suppress(ValueError), live_run(identity(), {}) as run:
        wait_until_open(run)
        raise ValueError("diverged")
    assert runs_of(root)[0].info.status == "FAILED"


def test_a_logged_row_does_not_wait_for_the_store(root: Path) -> None:
    with live_run(identity(), {}) as run:
        wait_until_open(run)
        started = time.thread_time()
        for step in range(1000):
            run.log(step, ROW)
        seconds_per_row = (time.thread_time() - started) / 1000
    # in this thread; the store takes several times as long for a row
    assert seconds_per_row < 1e-3
    assert len(steps(root, runs_of(root)[0], "train/loss")) == 1000


def log_to_a_broken_store(caplog: Log) -> float:
    """Log like a training; return the seconds that logging and closing took."""
    started = time.perf_counter()
    with live_run(identity(), {"N": 6}) as run:
        for step in range(100):
            run.log(step, ROW)
        logging_seconds = time.perf_counter() - started
        deadline = time.monotonic() + 60
        while not caplog.messages and time.monotonic() < deadline:
            time.sleep(0.01)
        run.log(100, ROW)
        started = time.perf_counter()
    return logging_seconds + time.perf_counter() - started


@pytest.mark.usefixtures("root", "short_timeouts")
def test_a_store_that_refuses(
    refused_port: int, monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://me:secret@127.0.0.1:{refused_port}")
    assert log_to_a_broken_store(caplog) < NO_WAIT_SECONDS
    (warning,) = caplog.messages
    assert warning.startswith(f"MLflow at http://127.0.0.1:{refused_port}: ")
    assert "refused" in warning
    assert warning.endswith("Training goes on; make sync mirrors the run afterwards.")
    assert "secret" not in warning
    assert "\n" not in warning


@pytest.mark.usefixtures("root", "short_timeouts")
def test_a_store_that_never_answers(
    silent_port: int, monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{silent_port}")
    assert log_to_a_broken_store(caplog) < NO_WAIT_SECONDS
    (warning,) = caplog.messages
    assert "timed out" in warning


@pytest.mark.usefixtures("root", "short_timeouts")
@pytest.mark.parametrize("uri", ["nonsense://nowhere", "sqlite:////proc/none/mlflow.db"])
def test_an_impossible_store(uri: str, monkeypatch: pytest.MonkeyPatch, caplog: Log) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    assert log_to_a_broken_store(caplog) < NO_WAIT_SECONDS
    (warning,) = caplog.messages
    assert uri in warning
    assert "\n" not in warning


def test_closing_does_not_wait_for_an_answer(
    silent_port: int, root: Path, monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    monkeypatch.setattr(live, "CLOSE_SECONDS", 0.3)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", str(10 * NO_WAIT_SECONDS))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{silent_port}")
    started = time.perf_counter()
    with live_run(identity(), {}):
        time.sleep(0.1)  # the request is under way
    assert time.perf_counter() - started < NO_WAIT_SECONDS
    (warning,) = caplog.messages
    assert "no answer" in warning


def test_a_store_that_hangs_later_delays_neither_training_nor_its_end(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    monkeypatch.setattr(live, "CLOSE_SECONDS", 0.5)
    with live_run(identity(), {}) as run:
        run.log(1, ROW)
        wait_until_open(run)
        locking = sqlite3.connect(root / "mlflow.db", timeout=60)
        locking.execute("begin exclusive")
        started = time.perf_counter()
        for step in range(2, 100):
            run.log(step, ROW)
        logged = time.perf_counter()
    closed = time.perf_counter()
    locking.rollback()
    locking.close()
    assert logged - started < 1
    assert closed - logged < NO_WAIT_SECONDS
    (warning,) = caplog.messages
    assert "no answer within" in warning
    run._thread.join()
    assert max(steps(root, runs_of(root)[0], "train/loss")) == 99


def test_a_store_that_fails_later_is_reported_at_the_end(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    with live_run(identity(), {}) as run:
        wait_until_open(run)
        database = sqlite3.connect(root / "mlflow.db", timeout=60)
        database.execute("alter table metrics rename to elsewhere")
        database.commit()
        database.close()
        run.log(1, ROW)
    (warning,) = [r.message for r in caplog.records if r.name == live.__name__]
    assert "OperationalError" in warning
    assert "\n" not in warning


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_short_training_does_not_wait_for_mlflow_however_it_ends(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    """On a busy machine the import alone outlasts CLOSE_SECONDS: a second line after the error."""
    monkeypatch.setattr(live, "DELAY_SECONDS", 600.0)
    monkeypatch.setattr(live, "connect", lambda *_: pytest.fail("MLflow was contacted"))
    with pytest.raises(error), live_run(identity(), {}) as run:
        raise error
    run._thread.join()
    assert caplog.messages == []
    assert run.run_id is None


def test_a_deleted_experiment_is_reported(root: Path, short_timeouts: None, caplog: Log) -> None:
    client, experiment = connect("aiayn/demo", root)
    client.delete_experiment(experiment)
    log_to_a_broken_store(caplog)
    (warning,) = caplog.messages
    assert "the experiment aiayn/demo was deleted; restore it" in warning


def test_a_store_that_becomes_available_again_gets_everything(
    root: Path, refused_port: int, monkeypatch: pytest.MonkeyPatch, caplog: Log
) -> None:
    monkeypatch.setattr(live, "RETRY_SECONDS", 0.05)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{refused_port}")
    caplog.set_level(logging.WARNING)
    warned = threading.Event()
    monkeypatch.setattr(live._logger, "warning", lambda *_: warned.set())
    with live_run(identity(), {}) as run:
        run.log(20, ROW)
        assert warned.wait(300)
        monkeypatch.delenv("MLFLOW_TRACKING_URI")
        wait_until_open(run)
        run.log(40, ROW)
    (logged,) = runs_of(root)
    assert steps(root, logged, "train/loss") == [20, 40]


def test_without_mlflow_training_warns_once(tmp_path: Path) -> None:
    script = """
import sys
sys.modules["mlflow"] = None
from aiayn.tracking import live
from aiayn.tracking.identity import RunIdentity
live.DELAY_SECONDS = 0.0
with live.live_run(RunIdentity(scale="demo", run="r", task="t", model="m", fingerprint="f"), {}) as run:
    run._thread.join()
    run.log(1, {"loss": 2.0})
print("trained")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 0
    assert done.stdout == "trained\n"
    (line,) = done.stderr.splitlines()
    assert "MLflow is not installed" in line
    assert list(tmp_path.iterdir()) == []


def test_live_logging_does_not_make_a_training_wait_for_the_import() -> None:
    script = "import sys, aiayn.tracking.live; print('mlflow' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
