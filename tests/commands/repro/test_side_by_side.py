"""A graph that runs side by side: what DVC finds afterwards, failures, the cache, signals."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from dvc.repo import Repo

from aiayn.commands.repro.graph import Graph
from aiayn.commands.repro.schedule import Schedule
from aiayn.commands.repro.side_by_side import run
from aiayn.errors import GraphError

# of what DVC stands on
pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TRAININGS = {"train@a", "train@b", "train@c"}


def ran(targets: Sequence[str] = ()) -> tuple[Schedule, str]:
    """The graph after a run of two jobs, and what was said."""
    graph, said = Graph(targets), io.StringIO()
    schedule = Schedule(graph.upstream, 2, lambda name: "@" in name)
    assert run(graph, schedule, said) == []
    return schedule, said.getvalue()


def dvc_runs(root: Path) -> list[str]:
    """The stages that a plain `dvc repro` runs."""
    with Repo(str(root)) as repo:
        return [stage.addressing for stage in repo.reproduce()]


@pytest.mark.slow
def test_dvc_finds_nothing_left_to_do_and_would_write_the_same_lock(toy: Path) -> None:
    schedule, _ = ran()
    assert {*schedule.done} == {"prepare", "report"} | TRAININGS
    assert (toy / "report").read_text() == 3 * "text\n"
    lock = (toy / "dvc.lock").read_bytes()
    assert dvc_runs(toy) == []
    with Repo(str(toy)) as repo:
        repo.reproduce(force=True)
    assert (toy / "dvc.lock").read_bytes() == lock
    assert (toy / ".gitignore").read_text().split() == ["/prepared", "/a.txt", "/b.txt", "/c.txt"]


def test_a_terminal_hears_of_every_stage_though_none_is_to_run(toy: Path) -> None:
    ran()
    graph, said = Graph(), Terminal()
    assert run(graph, Schedule(graph.upstream, 2), said) == []
    heard = re.split(r"[\r\n]+", said.getvalue())
    told = dict.fromkeys(line.strip().split(",")[0] for line in heard if "stages done" in line)
    assert [*told] == [f"{n} of 5 stages done" for n in range(6)]


def test_dvc_lock_is_there_for_the_report(toy: Path) -> None:
    ran()
    assert all(name in (toy / "seen").read_text() for name in TRAININGS)


def test_a_target_brings_what_it_needs_and_nothing_else(toy: Path) -> None:
    schedule, _ = ran(["train@b"])
    assert schedule.done == ["prepare", "train@b"]


def test_a_failure_is_named_and_the_next_start_tries_it_alone(toy: Path) -> None:
    (toy / "b").unlink()
    schedule, said = ran()
    assert schedule.failed == ["train@b"]
    assert schedule.waiting == ["report"]
    assert {*schedule.done} == {"prepare", "train@a", "train@c"}
    assert "train@b FAILED: ValueError: no b\n" in said
    (toy / "b").touch()
    (toy / "order").unlink()
    schedule, _ = ran()
    assert schedule.failed == schedule.waiting == []
    assert (toy / "order").read_text() == "b\n"


def test_a_stage_that_makes_nothing_fails(toy: Path) -> None:
    definition = (toy / "dvc.yaml").read_text()
    (toy / "dvc.yaml").write_text(definition.replace("cp prepared ${item}.txt", "true"))
    schedule, said = ran(["train@a"])
    assert schedule.failed == ["train@a"]
    assert "train@a FAILED: output 'a.txt' does not exist" in said


def test_what_was_made_before_comes_from_the_cache(toy: Path) -> None:
    ran()
    for name in ("order", "dvc.lock", "prepared", "a.txt", "b.txt", "c.txt"):
        (toy / name).unlink()
    _, said = ran()
    assert {f"{name}: from DVC's cache" for name in TRAININGS} <= {*said.splitlines()}
    assert not (toy / "order").exists()
    assert (toy / "report").read_text() == 3 * "text\n"
    assert dvc_runs(toy) == []


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("trian@b", "Did you mean train@b?"),
        ("trian", "Did you mean train?"),
        ("x", "Known: prepare, train, report."),
    ],
)
def test_a_target_that_does_not_exist(toy: Path, target: str, said: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph([target])
    assert str(caught.value) == f"dvc.yaml: there is no stage '{target}'. {said}"


def test_a_graph_that_cannot_be_read(toy: Path) -> None:
    (toy / "dvc.yaml").write_text("stages: {prepare: {command: true}}")
    with pytest.raises(GraphError, match="dvc.yaml' validation failed") as caught:
        Graph()
    assert "\n" not in str(caught.value)


def test_a_script_runs_as_ever_but_that_torch_is_there_already(toy: Path) -> None:
    (toy / "folder").mkdir()
    (toy / "folder/script.py").write_text(
        "import os, sys\n"
        "print('torch' in sys.modules, file=open('seen', 'w'))\n"
        "if __name__ == '__main__': print(os.environ['DVC_STAGE'], sys.argv, sys.path[0])\n"
        "sys.exit(f'GraphError: as asked')\n"
    )
    stage = {"cmd": "python folder/script.py en-de.base --seed 1", "outs": ["never"]}
    (toy / "dvc.yaml").write_text(yaml.dump({"stages": {"only": stage}}, Dumper=yaml.CSafeDumper))
    schedule, said = ran()
    assert (toy / "seen").read_text() == "True\n"
    words = ["folder/script.py", "en-de.base", "--seed", "1"]
    assert f"only | only {words} {toy / 'folder'}\n" in said
    assert "only FAILED: GraphError: as asked\n" in said
    assert schedule.failed == ["only"]


SAVES = """import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path("saved").touch(), sys.exit("stopped")))
pathlib.Path("started").touch()
while True: time.sleep(0.05)
"""
RUNS = """from aiayn.commands.repro.graph import Graph
from aiayn.commands.repro.schedule import Schedule
from aiayn.commands.repro.side_by_side import run
graph = Graph(["train@a"])
print(*run(graph, Schedule(graph.upstream, 1)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "start"),
    [(signal.SIGTERM, ""), (signal.SIGINT, ""), (signal.SIGTERM, "echo in a shell; ")],
)
def test_a_signal_lets_what_runs_save(toy: Path, number: int, start: str) -> None:
    (toy / "saves.py").write_text(SAVES)
    definition = (toy / "dvc.yaml").read_text()
    stages = yaml.load(definition, yaml.CSafeLoader)
    stages["stages"]["train"]["do"]["cmd"] = f"{start}python saves.py"
    (toy / "dvc.yaml").write_text(yaml.dump(stages, Dumper=yaml.CSafeDumper))
    command = [sys.executable, "-c", RUNS]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as it:
        while not (toy / "started").exists():
            assert it.poll() is None, it.stderr
            time.sleep(0.05)
        os.killpg(it.pid, number)  # as a terminal and `timeout` do: to all that it started here
        printed, said = it.communicate()
    assert (printed, it.returncode) == (f"{number}\n", 0), said
    assert (toy / "saved").exists()
    assert "train@a | stopped" in said
    assert "FAILED" not in said
    (toy / "dvc.yaml").write_text(definition)
    assert ran(["train@a"])[0].done == ["prepare", "train@a"]
