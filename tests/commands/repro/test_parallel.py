"""A graph that runs in parallel: what DVC finds afterwards, failures, the cache, signals."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from tests.forked_python import programs

from aiayn.commands.repro import dvc_commands
from aiayn.commands.repro.dvc_commands import changed_stages, environment, read_graph
from aiayn.commands.repro.parallel import run
from aiayn.commands.repro.schedule import Schedule, outdated, required

pytestmark = pytest.mark.slow  # every DVC process takes half a second

SECONDS_TO_WAIT = 120  # then the test continues, and fails
TRAININGS = {"train@a", "train@b", "train@c"}
SCORES = {"score@a", "score@b", "score@c"}


@pytest.fixture(autouse=True)
def _forked_dvc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes that tests start by `sys.executable`, among them all that get signals, have DVC start as it does
    for users."""
    _, *words = dvc_commands.DVC
    monkeypatch.setattr(dvc_commands, "DVC", (programs.python(), *words))


def run_graph(targets: Sequence[str] = ()) -> tuple[Schedule, str]:
    """Run the graph with two jobs; return its schedule and what was printed."""
    graph, printed = read_graph(), io.StringIO()
    stages = required(graph, targets)
    to_run = outdated(graph, changed_stages() & stages) & stages
    schedule = Schedule(graph, stages, to_run, 2)
    assert run(schedule, printed) == []
    return schedule, printed.getvalue()


def dvc(*arguments: str) -> str:
    command = [programs.python(), "-m", "dvc", *arguments]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout


def test_dvc_finds_nothing_to_do_and_would_write_the_same_lock(toy: Path) -> None:
    schedule, printed = run_graph()
    assert schedule.done == {"prepare", "report"} | TRAININGS | SCORES
    assert (toy / "report").read_text() == 3 * "5\n"
    assert sorted((toy / "order").read_text().split()) == ["a", "b", "c"]
    assert all(name in (toy / "seen").read_text() for name in TRAININGS | SCORES)
    lines = {line.rpartition(" in ")[0] for line in printed.splitlines()}
    assert {f"{name}: done" for name in schedule.done} <= lines
    lock = yaml.safe_load((toy / "dvc.lock").read_text())
    assert changed_stages() == frozenset()
    assert "Running stage" not in dvc("repro")
    dvc("repro", "--force")
    assert yaml.safe_load((toy / "dvc.lock").read_text()) == lock


def test_after_a_failure_the_rest_continues_and_the_next_start_retries_only_it(toy: Path) -> None:
    (toy / "b").unlink()
    schedule, printed = run_graph()
    assert schedule.failed == {"train@b": "ValueError: no b"}
    assert schedule.blocked == ["report", "score@b"]
    assert "train@b | ValueError: no b\n" in printed
    assert "train@b FAILED: ValueError: no b\n" in printed
    (toy / "b").touch()
    (toy / "order").unlink()
    schedule, _ = run_graph()
    assert not schedule.failed
    assert not schedule.blocked
    assert (toy / "order").read_text() == "b\n"


def test_a_stage_that_does_not_write_its_output_fails(toy: Path) -> None:
    definition = (toy / "dvc.yaml").read_text()
    (toy / "dvc.yaml").write_text(definition.replace("cp prepared ${item}.txt", "true"))
    schedule, printed = run_graph(["train@a"])
    assert [*schedule.failed] == ["train@a"]
    assert "train@a FAILED: output 'a.txt' does not exist" in printed


def test_a_target_runs_what_it_needs_and_comes_from_the_cache_the_next_time(toy: Path) -> None:
    assert run_graph(["score@b"])[0].done == {"prepare", "train@b", "score@b"}
    for name in ("order", "dvc.lock", "prepared", "b.txt", "b.score"):
        (toy / name).unlink()
    schedule, printed = run_graph(["score@b"])
    assert {f"{name}: from DVC's cache" for name in schedule.done} <= {*printed.splitlines()}
    assert not (toy / "order").exists()
    assert (toy / "b.score").read_text() == "5\n"


RUN_GRAPH = """import io, sys
from aiayn.commands.repro.parallel import _changed_once_free, run
from aiayn.commands.repro.dvc_commands import read_graph
from aiayn.commands.repro.schedule import Schedule, outdated
changed, graph = _changed_once_free(), read_graph()
schedule = Schedule(graph, {*graph}, outdated(graph, changed), 2)
run(schedule)
sys.exit(str(schedule.failed) if schedule.failed or schedule.blocked else 0)
"""


def test_two_starts_in_one_folder_both_succeed_and_run_nothing_twice(toy: Path) -> None:
    """A training of the first lasts until the second has reported that it waits."""
    definition = (toy / "dvc.yaml").read_text()
    blocking = '"touch started; while [ ! -e go ]; do sleep 0.1; done; echo ${item}'
    (toy / "dvc.yaml").write_text(definition.replace('"echo ${item}', blocking))
    watchdog = threading.Timer(SECONDS_TO_WAIT, (toy / "go").touch)
    watchdog.start()
    command = [sys.executable, "-c", RUN_GRAPH]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (toy / "started").exists() and first.poll() is None:
        time.sleep(0.05)
    second = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert second.stderr
    waiting_message = next((line for line in second.stderr if "waiting for process" in line), "")
    assert not (toy / "go").exists()
    assert waiting_message
    (toy / "go").touch()
    watchdog.cancel()
    messages = [process.communicate()[1] for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], messages
    assert sorted((toy / "order").read_text().split()) == ["a", "b", "c"], messages
    assert "If there are no processes" not in "".join(messages)
    assert changed_stages() == frozenset()


SAVE_ON_SIGTERM = """import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path("saved").touch(), sys.exit("stopped")))
pathlib.Path("started").touch()
while True: time.sleep(0.05)
"""
RUN_ONE_TRAINING = """from aiayn.commands.repro.dvc_commands import read_graph
from aiayn.commands.repro.parallel import run
from aiayn.commands.repro.schedule import Schedule
stages = {"prepare", "train@a"}
print(*run(Schedule(read_graph(), stages, stages, 1)))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_running_stages_save_on_a_signal(toy: Path, number: int) -> None:
    (toy / "saves.py").write_text(SAVE_ON_SIGTERM)
    definition = (toy / "dvc.yaml").read_text()
    stages = yaml.safe_load(definition)
    stages["stages"]["train"]["do"]["cmd"] = "python saves.py"
    (toy / "dvc.yaml").write_text(yaml.safe_dump(stages))
    command = [sys.executable, "-c", RUN_ONE_TRAINING]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while not (toy / "started").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        os.killpg(process.pid, number)  # as a terminal and `timeout` do
        printed, messages = process.communicate()
    assert (printed, process.returncode) == (f"{number}\n", 0), messages
    assert (toy / "saved").exists()
    assert "train@a | stopped" in messages
    assert "FAILED" not in messages
    (toy / "dvc.yaml").write_text(definition)
    assert run_graph(["train@a"])[0].done == {"prepare", "train@a"}
