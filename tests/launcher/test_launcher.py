"""How a training is started: in the process of the stage, once, with its arguments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from aiayn import config
from aiayn.config import Launcher
from aiayn.launcher import exec_single_under_launcher, exec_under_launcher

ROOT = Path(__file__).resolve().parents[2]
STAGE = """
import os, sys, time
from aiayn.config import Launcher
from aiayn.errors import one_line_errors
from aiayn.launcher import exec_under_launcher

@one_line_errors
def main():
    exec_under_launcher(Launcher(command=sys.argv[1], gpus=8))
    print("started", os.getpid(), sys.argv[1:], flush=True)
    if "wait" in sys.argv:
        time.sleep(60)
    sys.exit(0 if "succeed" in sys.argv else 7)

main()
"""
# a launcher such as srun: it sets no WORLD_SIZE, and runs the script that it is given
LAUNCHER = "import os, sys; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    script = tmp_path / "stage.py"
    script.write_text(STAGE)
    (tmp_path / "launch.py").write_text(LAUNCHER)
    return script


def start(stage: Path, command: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("WORLD_SIZE", "AIAYN_LAUNCHED")}
    return subprocess.Popen(
        [sys.executable, stage, command, *arguments],
        env=inherited | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_the_launcher_replaces_the_stage(stage: Path) -> None:
    command = f"{sys.executable} {stage.parent / 'launch.py'}"
    process = start(stage, command, "--seed", "3")
    printed, _ = process.communicate()
    assert printed == f"started {process.pid} {[command, '--seed', '3']}\n"
    assert process.returncode == 7


def test_a_signal_reaches_the_launched_process(stage: Path) -> None:
    process = start(stage, f"{sys.executable} {stage.parent / 'launch.py'}", "wait")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("started")
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == -signal.SIGTERM


def test_a_process_of_torchrun_starts_nothing(stage: Path) -> None:
    printed, _ = start(stage, "no-such-program", WORLD_SIZE="1").communicate()
    assert printed.startswith("started")


def test_torchrun_starts_the_given_number_of_processes(stage: Path) -> None:
    command = "torchrun --standalone --nproc-per-node=2"
    printed, stderr = start(stage, command, "succeed").communicate()
    assert printed.count("started") == 2, stderr


def test_a_missing_program_is_a_one_line_error(stage: Path) -> None:
    process = start(stage, "torchrunn --standalone")
    printed, stderr = process.communicate()
    assert (printed, process.returncode) == ("", 1)
    assert stderr == (
        "ConfigError: params.yaml: launcher.command starts 'torchrunn': No such file or directory. "
        "Install it, correct the command, or set launcher=here.\n"
    )


def test_placeholders_are_filled_in_when_a_stage_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single-process stage has another command and at most one GPU; a folder stays one word."""
    (tmp_path / "scales/a folder").mkdir(parents=True)
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path / "scales/a folder")
    params = yaml.load((ROOT / "params.yaml").read_text(), yaml.CSafeLoader)
    placeholders = "{stage} {scale} {gpus} {nodes} --in={folder} {project}/x {{}}"
    params["launcher"] = {
        "command": f"many {placeholders}",
        "single": f"one {placeholders}",
        "gpus": 8,
        "nodes": 2,
    }
    Path("params.yaml").write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))
    for name in ("WORLD_SIZE", "AIAYN_LAUNCHED"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(os, "environ", {**os.environ})
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execvp", lambda program, words: started.append(words))
    for argv, start in (
        (
            ["pipeline/train.py", "en-de.base", "--seed", "1"],
            lambda: exec_under_launcher(config.load().launcher),
        ),
        (["pipeline/profile_layers.py"], exec_single_under_launcher),
    ):
        monkeypatch.setattr(sys, "argv", argv)
        os.environ.pop("AIAYN_LAUNCHED", None)
        start()
    folder, project = f"--in={tmp_path}/scales/a folder", f"{tmp_path}/x"
    assert started == [
        ["many", "train@en-de.base", "demo", "8", "2", folder, project, "{}",
         "pipeline/train.py", "en-de.base", "--seed", "1"],
        ["one", "profile_layers", "demo", "1", "1", folder, project, "{}",
         "pipeline/profile_layers.py"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "stage", sorted((ROOT / "pipeline").glob("*.py")), ids=lambda path: path.stem
)
def test_every_stage_that_opens_a_device_can_be_launched(stage: Path) -> None:
    """average opens none, but must not run on a login node either."""
    text = stage.read_text()
    starts = ("exec_under_launcher(params.launcher)", "exec_single_under_launcher()")
    assert any(start in text for start in starts) == (
        "open_device" in text or stage.stem == "average"
    )


def test_without_a_launcher_the_stage_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "execvp", lambda *_: pytest.fail("nothing should be started"))
    exec_under_launcher(Launcher(command=None))
