"""Live logging arrives once, and no store can hold up or break a training."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow.entities import Run
from tests.tracking.store_contents import history, runs_of

from aiayn.tracking import live
from aiayn.tracking.connection import connect
from aiayn.tracking.live import LiveRun, open_run
from aiayn.tracking.names import RunIdentity

# seconds that nothing outlasts but a wait for a store, whatever else the machine does
AT_ONCE = 20
ROW = {"step": 1, "epoch": 0.5, "tokens": 9, "learning_rate": 1e-3, "loss": 2.0, "dev_loss": None}


def identity(run: str = "en-de.base", fingerprint: str = "f1" * 32) -> RunIdentity:
    return RunIdentity(scale="demo", run=run, task="en-de", model="base", fingerprint=fingerprint)


def steps(root: Path, run: Run, metric: str) -> list[int]:
    return [step for step, _ in history(root, run, metric)]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setattr(live, "CLOSE_SECONDS", 0.3)


@pytest.fixture
def refused_port() -> Iterator[int]:
    """A port that nobody listens on, and that nobody else can take."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def black_hole() -> Iterator[int]:
    """A port that accepts connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield listening.getsockname()[1]


def wait_for(warnings: list[str], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not warnings and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_training_is_logged(root: Path) -> None:
    warnings: list[str] = []
    with open_run(identity(), {"N": 6}, warn=warnings.append, root=root) as run:
        for step in (20, 40):
            run.log(step, {"step": step, "loss": 1 / step, "dev_loss": None})
        run.log(60, {"step": 60, "loss": 1 / 60, "dev_loss": 0.5})
    (logged,) = runs_of(root)
    assert warnings == []
    assert logged.info.run_id == run.run_id
    assert (logged.info.run_name, logged.info.status) == ("en-de.base", "FINISHED")
    assert logged.data.params == {"N": "6"}
    assert logged.data.tags["stage"] == "train"
    assert steps(root, logged, "train/loss") == [20, 40, 60]
    assert steps(root, logged, "dev/loss") == [60]
    assert set(logged.data.metrics) == {"train/loss", "dev/loss"}


def test_a_resumed_training_goes_on_in_the_same_run(root: Path) -> None:
    first = open_run(identity(), {"N": 6}, root=root)
    for step in (20, 40):
        first.log(step, {"loss": 1 / step, "tokens_per_second": 100})
    first.close("KILLED")
    assert runs_of(root)[0].info.status == "KILLED"
    with open_run(identity(), {"N": 6}, root=root) as second:
        for step in (40, 60):  # 40 again: the last checkpoint was older
            second.log(step, {"loss": 1 / step, "tokens_per_second": 200})
    (logged,) = runs_of(root)
    assert logged.info.run_id == first.run_id == second.run_id
    assert logged.info.status == "FINISHED"
    assert steps(root, logged, "train/loss") == [20, 40, 60]
    assert steps(root, logged, "train/tokens_per_second") == [20, 40, 60]


def test_a_run_lasts_as_long_as_its_training(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logging begins later: a training has to last a while for that, and MLflow takes seconds."""
    clock, opened = [1_000_000], threading.Event()

    def late(*arguments: Any) -> Any:
        assert opened.wait(300)
        return connect(*arguments)

    monkeypatch.setattr(live, "now_ms", lambda: clock[0])
    monkeypatch.setattr(live, "connect", late)
    with open_run(identity(), {}, root=root) as run:
        clock[0] += 41_000
        opened.set()
        run.log(1, ROW)
        clock[0] += 33_000
    (found,) = runs_of(root)
    assert (found.info.start_time, found.info.end_time) == (1_000_000, 1_074_000)


def test_system_metrics_are_logged_where_the_user_turns_them_on(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING", "true")
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "0.01")
    warnings: list[str] = []
    deadline = time.monotonic() + 300
    with open_run(identity(), {}, warn=warnings.append, root=root) as run:
        run.log(20, ROW)
        while not any("system/cpu_utilization_percentage" in r.data.metrics for r in runs_of(root)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    (logged,) = runs_of(root)
    assert warnings == []
    assert (logged.info.status, logged.data.metrics["train/loss"]) == ("FINISHED", 2.0)
    assert "system/disk_usage_percentage" in logged.data.metrics


def test_a_monitor_that_cannot_start_costs_nothing_else(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING", "true")
    monkeypatch.setitem(sys.modules, "mlflow.system_metrics.system_metrics_monitor", None)
    warnings: list[str] = []
    with open_run(identity(), {}, warn=warnings.append, root=root) as run:
        run.log(20, ROW)
    (logged,) = runs_of(root)
    (said,) = warnings
    assert said.startswith("MLflow cannot log system metrics: ")
    assert said.endswith(" The rest is logged.")
    assert set(logged.data.metrics) == {
        "train/loss",
        "train/epoch",
        "train/tokens",
        "train/learning_rate",
    }


def test_another_fingerprint_or_name_is_another_run(root: Path) -> None:
    for who in (identity(), identity(fingerprint="f2" * 32), identity(run="en-de.big")):
        open_run(who, {}, root=root).close()
    names = sorted(run.info.run_name for run in runs_of(root))
    assert names == ["en-de.base", "en-de.base", "en-de.big"]


@pytest.mark.parametrize(
    ("error", "status"), [(ValueError, "FAILED"), (KeyboardInterrupt, "KILLED")]
)
def test_how_a_training_ended_is_told(root: Path, error: type[BaseException], status: str) -> None:
    with pytest.raises(error), open_run(identity(), {}, root=root):
        raise error
    assert runs_of(root)[0].info.status == status


def test_a_logged_row_does_not_wait_for_the_store(root: Path) -> None:
    with open_run(identity(), {}, root=root) as run:
        started = time.thread_time()
        for step in range(2000):
            run.log(step, ROW)
        each = (time.thread_time() - started) / 2000
    assert each < 1e-3  # seconds of this thread; the store takes several times as long for a row
    assert len(steps(root, runs_of(root)[0], "train/loss")) == 2000


def drill(root: Path) -> tuple[list[str], float, LiveRun]:
    """Log and close against a store that fails: the warnings, and the seconds that this took."""
    warnings: list[str] = []
    started = time.perf_counter()
    run = open_run(identity(), {"N": 6}, warn=warnings.append, root=root)
    for step in range(100):
        run.log(step, ROW)
    lost = time.perf_counter() - started
    wait_for(warnings)
    run.log(100, ROW)
    started = time.perf_counter()
    run.close()
    run.close()
    return warnings, lost + time.perf_counter() - started, run


@pytest.mark.usefixtures("impatient")
def test_a_store_that_refuses(
    root: Path, refused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://me:secret@127.0.0.1:{refused_port}")
    warnings, lost, run = drill(root)
    assert len(warnings) == 1
    assert warnings[0].startswith(f"MLflow at http://127.0.0.1:{refused_port}: ")
    assert "refused" in warnings[0]
    assert warnings[0].endswith("Training goes on; make sync brings the run in afterwards.")
    assert "secret" not in warnings[0]
    assert "\n" not in warnings[0]
    assert lost < AT_ONCE
    assert run.run_id is None


@pytest.mark.usefixtures("impatient")
def test_a_store_that_never_answers(
    root: Path, black_hole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{black_hole}")
    warnings, lost, _ = drill(root)
    assert len(warnings) == 1
    assert "timed out" in warnings[0]
    assert lost < AT_ONCE


def test_closing_does_not_wait_for_an_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "CLOSE_SECONDS", 0.3)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", str(10 * AT_ONCE))
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    warnings: list[str] = []
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{silent.getsockname()[1]}")
        run = open_run(identity(), {}, warn=warnings.append, root=root)
        started = time.perf_counter()
        run.close()
        assert time.perf_counter() - started < AT_ONCE
    assert len(warnings) == 1
    assert "no answer" in warnings[0]
    run._thread.join()  # the end of the connection passes unnoticed
    assert len(warnings) == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_short_training_does_not_wait_for_mlflow_however_it_ends(
    root: Path, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the import alone outlasts CLOSE_SECONDS: a second line beside the error."""
    monkeypatch.setattr(live, "PATIENCE_SECONDS", 600.0)
    monkeypatch.setattr(live, "connect", lambda *_: pytest.fail("MLflow was asked"))
    warnings: list[str] = []
    with pytest.raises(error), open_run(identity(), {}, warn=warnings.append, root=root) as run:
        raise error
    run._thread.join()
    assert warnings == []
    assert run.run_id is None


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("uri", ["nonsense://nowhere", "sqlite:////proc/none/mlflow.db"])
def test_a_store_that_cannot_be(root: Path, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    warnings, lost, _ = drill(root)
    assert len(warnings) == 1
    assert uri in warnings[0]
    assert "\n" not in warnings[0]
    assert lost < AT_ONCE


def test_a_deleted_experiment_is_said_to_be(root: Path) -> None:
    client, experiment = connect("aiayn/demo", root)
    client.delete_experiment(experiment)
    warnings, _, _ = drill(root)
    assert len(warnings) == 1
    assert "the experiment aiayn/demo was deleted; restore it" in warnings[0]


def test_a_store_that_comes_back_gets_everything(
    root: Path, refused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "RETRY_SECONDS", 0.05)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{refused_port}")
    warnings: list[str] = []
    with open_run(identity(), {}, warn=warnings.append, root=root) as run:
        run.log(20, ROW)
        wait_for(warnings)
        monkeypatch.delenv("MLFLOW_TRACKING_URI")
        run.log(40, ROW)
    (logged,) = runs_of(root)
    assert len(warnings) == 1
    assert steps(root, logged, "train/loss") == [20, 40]


def test_the_environment_names_the_store(
    root: Path, empty_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "elsewhere").mkdir()
    shutil.copyfile(empty_database, root / "elsewhere/mlflow.db")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{root}/elsewhere/mlflow.db")
    monkeypatch.chdir(root)
    open_run(identity(), {}, root=root).close()
    assert len(runs_of(root / "elsewhere")) == 1
    assert runs_of(root) == []


def test_without_mlflow_training_says_so_once(tmp_path: Path) -> None:
    script = """
import sys
sys.modules["mlflow"] = None
from aiayn.tracking import live
from aiayn.tracking.names import RunIdentity
live.PATIENCE_SECONDS = 0.0
who = RunIdentity(scale="demo", run="r", task="t", model="m", fingerprint="f")
with live.open_run(who, {}) as run:
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
