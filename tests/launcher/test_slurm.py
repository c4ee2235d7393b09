"""A stage as a SLURM job, with a fake scheduler (fake_slurm.py): however the job ends, so does the stage,
with a one-line message. `make slurm` does the same with a real scheduler.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from aiayn.commands.repro import parallel
from aiayn.commands.repro.schedule import Schedule
from aiayn.config.machine import fill_in

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "conf/launcher/scripts/slurm.sh"
HERE = Path(__file__).parent

# a training that runs as long as a file called `wait` exists; on SIGTERM it saves and exits
STAGE = """
import os, pathlib, signal, sys, time
run = sys.argv[1]
state = pathlib.Path(f"scratch/{run}-0123456789abcdef/resume.safetensors")
def end(number, frame):
    if not pathlib.Path("full").exists():
        state.parent.mkdir(parents=True, exist_ok=True)
        state.touch()
    sys.exit("stopped")
signal.signal(signal.SIGTERM, end)
print("resumes" if state.exists() else "begins", *sys.argv[1:], flush=True)
if pathlib.Path("diverges").exists():
    sys.exit("TrainingError: the loss is nan")
pathlib.Path("started").touch()
while pathlib.Path("wait").exists() and not state.exists():
    time.sleep(0.01)
if not pathlib.Path("writes_nothing").exists():
    pathlib.Path("made").write_text("weights")
"""


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one stage, the current folder, with a scheduler on PATH."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sbatch", "srun", "scontrol", "scancel"):
        text = (HERE / "fake_slurm.py").read_text()
        (programs / name).write_text(f"#!{sys.executable} -SE\n{text}")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path / "jobs"))
    (tmp_path / "jobs").mkdir()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    project = tmp_path / "project"
    shutil.copytree(ROOT / "conf/launcher", project / "conf/launcher")
    (project / "pipeline").mkdir()
    (project / "pipeline/train.py").write_text(STAGE)
    monkeypatch.chdir(project)
    return project


def submit(*options: str) -> subprocess.Popen[str]:
    """The stage, as its launcher starts it."""
    name = ["train@en-de.base.demo", "--nodes=1", "--gpus-per-node=0", *options, "--"]
    stage = [sys.executable, "pipeline/train.py", "en-de.base", "--seed", "1"]
    return subprocess.Popen(
        ["bash", SCRIPT, *name, *stage],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def outcome(process: subprocess.Popen[str]) -> tuple[int, str]:
    printed, stderr = process.communicate(timeout=60)
    assert printed == ""
    return process.returncode, stderr


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def send_signal(cluster: Path, number: int, process: str = "script") -> None:
    """Send a signal to the job's script, as SLURM would."""
    os.kill(int((cluster.parent / "jobs" / f"1.{process}").read_text()), number)


def log(cluster: Path) -> str:
    (file,) = (cluster / "logs").glob("train@en-de.base.demo.*.1.log")
    return file.read_text()


def test_success(cluster: Path) -> None:
    assert outcome(submit()) == (0, "")
    assert (cluster / "made").exists()
    assert "begins en-de.base --seed 1\n" in log(cluster)
    assert "--wait" in (cluster.parent / "jobs/1.job").read_text()
    assert [path.name for path in (cluster / "logs").iterdir() if path.name[0] == "."] == []


@pytest.mark.parametrize(("gpus", "requested"), [(0, False), (8, True)])
def test_cpus_and_memory_are_those_of_gpus(cluster: Path, gpus: int, requested: bool) -> None:
    """As slurm.yaml requests them; without GPUs there is nothing to count them by."""
    launcher = yaml.safe_load((ROOT / "conf/launcher/slurm.yaml").read_text())
    for command in (launcher["command"], launcher["single"]):
        placeholders = {"project": cluster, "stage": "s", "scale": "d", "gpus": gpus, "nodes": 1}
        words = fill_in(command, placeholders)
        options = words[3 : words.index("--")]
        completed = subprocess.run(["bash", SCRIPT, "name", *options, "--", "true"], check=False)
        assert completed.returncode == 0
    jobs = [path.read_text() for path in sorted((cluster.parent / "jobs").glob("*.job"))]
    assert len(jobs) == 2
    for job in jobs:
        assert (f"--gpus-per-node={gpus} --cpus-per-gpu=4 --mem-per-gpu=" in job) == requested
        assert ("-per-gpu" in job) == requested


def test_failure(cluster: Path) -> None:
    """The reason is the last line of the job's log."""
    (cluster / "diverges").touch()
    status, stderr = outcome(submit())
    assert (status, stderr.count("\n")) == (1, 1)
    assert stderr.startswith(
        "SlurmError: job 1 ended as FAILED: TrainingError: the loss is nan (logs/train@en-de.base."
    )


def test_killed(cluster: Path) -> None:
    (cluster / "wait").touch()
    job = submit()
    wait_until((cluster / "started").exists, job)
    subprocess.run(["scancel", "1"], check=True)
    status, stderr = outcome(job)
    assert (status, stderr.count("\n")) == (1, 1)
    assert stderr.startswith("SlurmError: job 1 ended as CANCELLED: it was cancelled. (logs/")
    assert not (cluster / "made").exists()


def test_time_limit(cluster: Path) -> None:
    """Signalled before the limit, the job saves, is requeued and resumes."""
    (cluster / "wait").touch()
    job = submit()
    wait_until((cluster / "started").exists, job)
    send_signal(cluster, signal.SIGUSR1)
    assert outcome(job) == (0, "")
    assert (cluster / "made").exists()
    text = log(cluster)
    assert text.index("begins") < text.index("stopped") < text.index("The state is saved; the job ")
    assert text.index("start 2: ") < text.index("resumes")


def test_time_limit_without_a_saved_state(cluster: Path) -> None:
    """The next start would get no further, so the job is not requeued. Another run's state is ignored."""
    for name in ("wait", "full"):
        (cluster / name).touch()
    job = submit()
    wait_until((cluster / "started").exists, job)
    state_of_another_run = cluster / "scratch/en-de.base-s2-0123456789abcdef/resume.safetensors"
    state_of_another_run.parent.mkdir(parents=True)
    state_of_another_run.touch()
    send_signal(cluster, signal.SIGUSR1)
    status, stderr = outcome(job)
    assert status == 1
    assert "ended as FAILED: the time limit came first, and nothing was saved to go " in stderr
    assert "Raise SBATCH_TIMELIMIT." in stderr


def test_requeued_by_the_scheduler(cluster: Path) -> None:
    """As after a preemption or a node's failure: the job is killed, and resumes from its saved state."""
    (cluster / "wait").touch()
    job = submit()
    wait_until((cluster / "started").exists, job)
    subprocess.run(["scontrol", "requeue", "1"], check=True)
    send_signal(cluster, signal.SIGTERM, "step")
    send_signal(cluster, signal.SIGTERM)
    assert outcome(job) == (0, "")
    assert "resumes" in log(cluster)
    assert (cluster / "made").exists()


def test_resubmitted_after_a_killed_wait_the_job_waits_for_the_first(cluster: Path) -> None:
    (cluster / "wait").touch()
    first = submit()
    wait_until((cluster / "started").exists, first)
    first.terminate()
    status, stderr = outcome_without_child(first)
    assert status == 143
    assert "goes on; scancel --me --name=train@en-de.base.demo." in stderr
    second = submit()
    wait_until((cluster.parent / "jobs/2.waits").exists, second)
    (cluster / "wait").unlink()
    assert outcome(second) == (0, "")
    assert (cluster.parent / "jobs/1.state").read_text() == "COMPLETED"


def outcome_without_child(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit status and first error line of a process whose child, sbatch, is still running."""
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        return process.wait(timeout=60), process.stderr.readline()


def test_a_refused_submission(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SLURM_REFUSES", "1")
    status, stderr = outcome(submit())
    assert status == 1
    assert stderr.splitlines()[-1] == (
        "SlurmError: Batch job submission failed: Invalid account. Nothing was submitted."
    )


def test_no_scheduler(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = cluster.parent / "tools"
    tools.mkdir()
    for name in ("bash", "cksum", "cut"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    assert outcome(submit()) == (
        1,
        "SlurmError: there is no sbatch here. Start from a login node of the cluster, or set "
        "launcher=here.\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize("writes_output", [True, False])
def test_a_deleted_job_record(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, writes_output: bool
) -> None:
    """sbatch exits with 0 in any case; the stage has succeeded if its outputs exist."""
    monkeypatch.setenv("FAKE_SLURM_FORGETS", "1")
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(cluster / ".dvc/tmp/site"))
    if not writes_output:
        (cluster / "writes_nothing").touch()
    (cluster / ".dvc").mkdir()
    (cluster / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    command = f"bash {SCRIPT} train@a.toy -- {sys.executable} pipeline/train.py a"
    stages = {"stages": {"train": {"cmd": command, "outs": ["made"]}}}
    Path("dvc.yaml").write_text(yaml.dump(stages, Dumper=yaml.CSafeDumper))
    schedule, printed = Schedule({"train": frozenset()}, ["train"], ["train"], 1), io.StringIO()
    assert parallel.run(schedule, printed) == []
    assert schedule.done == ({"train"} if writes_output else set())
    assert [*schedule.failed] == ([] if writes_output else ["train"])
    messages = printed.getvalue()
    assert "train | sbatch: error: Job 1 no longer found and exit code not found\n" in messages
    assert ("train FAILED: output 'made' does not exist\n" in messages) == (not writes_output)
