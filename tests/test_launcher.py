"""How a training is started: in the same process as the stage, once, with its own arguments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aiayn.config import Launcher
from aiayn.launcher import hand_over

STAGE = """
import os, sys, time
from aiayn.config import Launcher
from aiayn.errors import one_line_errors
from aiayn.launcher import hand_over

@one_line_errors
def main():
    hand_over(Launcher(command=sys.argv[1]))
    print("started", os.getpid(), sys.argv[1:], flush=True)
    if "wait" in sys.argv:
        time.sleep(60)
    sys.exit(0 if "well" in sys.argv else 7)

main()
"""
# a launcher such as srun: it says nothing of processes, and runs the script that it is given
LAUNCHER = "import os, sys; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    script = tmp_path / "stage.py"
    script.write_text(STAGE)
    (tmp_path / "launch.py").write_text(LAUNCHER)
    return script


def start(stage: Path, command: str, *more: str, **environment: str) -> subprocess.Popen[str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("WORLD_SIZE", "AIAYN_LAUNCHED")}
    return subprocess.Popen(
        [sys.executable, stage, command, *more],
        env=inherited | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_the_launcher_takes_the_place_of_the_stage(stage: Path) -> None:
    command = f"{sys.executable} {stage.parent / 'launch.py'}"
    process = start(stage, command, "--seed", "3")
    printed, _ = process.communicate()
    assert printed == f"started {process.pid} {[command, '--seed', '3']}\n"
    assert process.returncode == 7


def test_a_signal_reaches_what_was_started(stage: Path) -> None:
    process = start(stage, f"{sys.executable} {stage.parent / 'launch.py'}", "wait")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("started")
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == -signal.SIGTERM


def test_a_process_of_torchrun_starts_nothing(stage: Path) -> None:
    printed, _ = start(stage, "no-such-program", WORLD_SIZE="1").communicate()
    assert printed.startswith("started")


def test_torchrun_starts_as_many_as_it_is_told(stage: Path) -> None:
    command = "torchrun --standalone --nproc-per-node=2"
    printed, said = start(stage, command, "well").communicate()
    assert printed.count("started") == 2, said


def test_a_program_that_is_not_there_is_one_line(stage: Path) -> None:
    process = start(stage, "torchrunn --standalone")
    printed, said = process.communicate()
    assert (printed, process.returncode) == ("", 1)
    assert said == (
        "ConfigError: params.yaml: launcher.command starts 'torchrunn': No such file or directory. "
        "Install it, correct the command, or set launcher=python.\n"
    )


def test_without_a_launcher_the_stage_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execvp", lambda *_: pytest.fail("nothing is to be started"))
    hand_over(Launcher(command=None))
