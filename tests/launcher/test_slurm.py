"""A stage as a job of SLURM, with a scheduler that is not one (fake_slurm.py): every end that a job can
have is the stage's, with one clear line. `make slurm` does the same with a real one.
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

# a training that takes as long as a file called `wait` is there; it saves when it is told to end
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
print("goes on" if state.exists() else "begins", *sys.argv[1:], flush=True)
if pathlib.Path("diverges").exists():
    sys.exit("TrainingError: the loss is nan")
pathlib.Path("started").touch()
while pathlib.Path("wait").exists() and not state.exists():
    time.sleep(0.01)
if not pathlib.Path("lazy").exists():
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


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    printed, said = process.communicate(timeout=60)
    assert printed == ""
    return process.returncode, said


def until(there: Callable[[], object], process: subprocess.Popen[str]) -> None:
    while not there():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def signalled(cluster: Path, number: int, to: str = "script") -> None:
    """Tell the job's script what SLURM would."""
    os.kill(int((cluster.parent / "jobs" / f"1.{to}").read_text()), number)


def log(cluster: Path) -> str:
    (file,) = (cluster / "logs").glob("train@en-de.base.demo.*.1.log")
    return file.read_text()


def test_success(cluster: Path) -> None:
    assert ended(submit()) == (0, "")
    assert (cluster / "made").exists()
    assert "begins en-de.base --seed 1\n" in log(cluster)
    assert "--wait" in (cluster.parent / "jobs/1.job").read_text()
    assert [path.name for path in (cluster / "logs").iterdir() if path.name[0] == "."] == []


@pytest.mark.parametrize(("gpus", "asked"), [(0, False), (8, True)])
def test_cpus_and_memory_are_those_of_gpus(cluster: Path, gpus: int, asked: bool) -> None:
    """As slurm.yaml asks for them; a cluster without GPUs has none to count by."""
    launcher = yaml.safe_load((ROOT / "conf/launcher/slurm.yaml").read_text())
    for command in (launcher["command"], launcher["single"]):
        known = {"project": cluster, "stage": "s", "scale": "d", "gpus": gpus, "nodes": 1}
        words = fill_in(command, known)
        options = words[3 : words.index("--")]
        done = subprocess.run(["bash", SCRIPT, "name", *options, "--", "true"], check=False)
        assert done.returncode == 0
    jobs = [path.read_text() for path in sorted((cluster.parent / "jobs").glob("*.job"))]
    assert len(jobs) == 2
    for job in jobs:
        assert (f"--gpus-per-node={gpus} --cpus-per-gpu=4 --mem-per-gpu=" in job) == asked
        assert ("-per-gpu" in job) == asked


def test_failure(cluster: Path) -> None:
    """The reason that stands in the job's log is the stage's, in the last line."""
    (cluster / "diverges").touch()
    status, said = ended(submit())
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(
        "SlurmError: job 1 ended as FAILED: TrainingError: the loss is nan (logs/train@en-de.base."
    )


def test_killed(cluster: Path) -> None:
    (cluster / "wait").touch()
    job = submit()
    until((cluster / "started").exists, job)
    subprocess.run(["scancel", "1"], check=True)
    status, said = ended(job)
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith("SlurmError: job 1 ended as CANCELLED: it was cancelled. (logs/")
    assert not (cluster / "made").exists()


def test_time_is_up(cluster: Path) -> None:
    """Told before the limit, it saves, goes back into the queue and goes on from there."""
    (cluster / "wait").touch()
    job = submit()
    until((cluster / "started").exists, job)
    signalled(cluster, signal.SIGUSR1)
    assert ended(job) == (0, "")
    assert (cluster / "made").exists()
    said = log(cluster)
    assert said.index("begins") < said.index("stopped") < said.index("The state is saved; the job ")
    assert said.index("start 2: ") < said.index("goes on")


def test_time_is_up_and_nothing_is_saved(cluster: Path) -> None:
    """The next start would come no further: no job circles for ever. Another run's state is none."""
    for name in ("wait", "full"):
        (cluster / name).touch()
    job = submit()
    until((cluster / "started").exists, job)
    other = cluster / "scratch/en-de.base-s2-0123456789abcdef/resume.safetensors"
    other.parent.mkdir(parents=True)
    other.touch()
    signalled(cluster, signal.SIGUSR1)
    status, said = ended(job)
    assert status == 1
    assert "ended as FAILED: the time limit came first, and nothing was saved to go " in said
    assert "Raise SBATCH_TIMELIMIT." in said


def test_requeued_by_the_scheduler(cluster: Path) -> None:
    """As after a preemption or a node's failure: killed, and started again from what was saved."""
    (cluster / "wait").touch()
    job = submit()
    until((cluster / "started").exists, job)
    subprocess.run(["scontrol", "requeue", "1"], check=True)
    signalled(cluster, signal.SIGTERM, "step")
    signalled(cluster, signal.SIGTERM)
    assert ended(job) == (0, "")
    assert "goes on" in log(cluster)
    assert (cluster / "made").exists()


def test_after_a_killed_wait_the_same_job_waits_for_the_first(cluster: Path) -> None:
    (cluster / "wait").touch()
    first = submit()
    until((cluster / "started").exists, first)
    first.terminate()
    status, said = ended_alone(first)
    assert status == 143
    assert "goes on; scancel --me --name=train@en-de.base.demo." in said
    second = submit()
    until((cluster.parent / "jobs/2.waits").exists, second)
    (cluster / "wait").unlink()
    assert ended(second) == (0, "")
    assert (cluster.parent / "jobs/1.state").read_text() == "COMPLETED"


def ended_alone(process: subprocess.Popen[str]) -> tuple[int, str]:
    """How a process ended whose child, sbatch, lives on."""
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        return process.wait(timeout=60), process.stderr.readline()


def test_nothing_is_submitted(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SLURM_REFUSES", "1")
    status, said = ended(submit())
    assert status == 1
    assert said.splitlines()[-1] == (
        "SlurmError: Batch job submission failed: Invalid account. Nothing was submitted."
    )


def test_no_scheduler(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = cluster.parent / "tools"
    tools.mkdir()
    for name in ("bash", "cksum", "cut"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    assert ended(submit()) == (
        1,
        "SlurmError: there is no sbatch here. Start from a login node of the cluster, or set "
        "launcher=here.\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize("writes", [True, False])
def test_a_record_that_is_gone(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, writes: bool
) -> None:
    """sbatch says 0, whatever the end: whether the stage made what it should is what counts."""
    monkeypatch.setenv("FAKE_SLURM_FORGETS", "1")
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(cluster / ".dvc/tmp/site"))
    if not writes:
        (cluster / "lazy").touch()
    (cluster / ".dvc").mkdir()
    (cluster / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    command = f"bash {SCRIPT} train@a.toy -- {sys.executable} pipeline/train.py a"
    stages = {"stages": {"train": {"cmd": command, "outs": ["made"]}}}
    Path("dvc.yaml").write_text(yaml.dump(stages, Dumper=yaml.CSafeDumper))
    schedule, printed = Schedule({"train": frozenset()}, ["train"], ["train"], 1), io.StringIO()
    assert parallel.run(schedule, printed) == []
    assert schedule.done == ({"train"} if writes else set())
    assert [*schedule.failed] == ([] if writes else ["train"])
    messages = printed.getvalue()
    assert "train | sbatch: error: Job 1 no longer found and exit code not found\n" in messages
    assert ("train FAILED: output 'made' does not exist\n" in messages) == (not writes)
