"""The pipeline on a real SLURM on this machine: the same bytes as without, whatever happens?

Starts munged, slurmctld and slurmd for one node, as the current user and in a temporary folder, and
runs a copy of the project at a small scale: once with no launcher, then with LAUNCHER=slurm
undisturbed; requeued in the middle of the training; with its time limit coming in the middle;
with the process that waits for the jobs killed -9 and started again. Prints a line for each; exits
with 1 if any ended with other bytes or trained a step twice. Needs Debian's slurm-wlm and munge.

--whole: instead, run the whole demo as jobs and compare its outputs with dvc.lock's digests.
"""

from __future__ import annotations

import argparse
import getpass
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.project_copy import REPOSITORY, copy_project

from aiayn.results import paths
from aiayn.results.lock import Lock
from aiayn.results.metadata import read_train

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel", "squeue")
SBIN = os.pathsep + os.pathsep.join(("/usr/sbin", "/usr/local/sbin"))
RUN, STEPS = "en-de.base", 1000
TRAIN = f"train@{RUN}"
SMALL = (
    "models.base.average=1",
    "training.log_steps=10", "training.validation_steps=200",
    "catalogue.corpora.demo-train.grammar.sentences=2000",
    "catalogue.corpora.demo-dev.grammar.sentences=30",
    "catalogue.corpora.demo-test.grammar.sentences=30",
)  # fmt: skip
CONFIGURATION = """
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# a requeued job waits until its credential has expired: not two minutes
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=here Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """A SLURM of one node, whose files are in a folder; what its users need in the environment."""
    path = os.environ["PATH"] + SBIN
    if missing := [name for name in PROGRAMS if shutil.which(name, path=path) is None]:
        sys.exit(f"not installed: {', '.join(missing)}. On Debian: apt-get install slurm-wlm munge")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    host = socket.gethostname().partition(".")[0]
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            host=host, user=getpass.getuser(), folder=folder, ports=_free_ports(2),
            cpus=os.cpu_count(),
        )
    )  # fmt: skip
    environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": path}
    files = {name: f"{folder}/munge{name}" for name in (".socket", ".pid", ".log", ".seed")}
    started: list[subprocess.Popen[bytes]] = []
    for command in (
        ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={files['.socket']}",
         f"--pid-file={files['.pid']}", f"--log-file={files['.log']}",
         f"--seed-file={files['.seed']}"],
        ["slurmctld", "-D"],
        ["slurmd", "-D"],
    ):  # fmt: skip
        with (folder / f"{command[0]}.said").open("wb") as said:
            started.append(
                subprocess.Popen(command, env=os.environ | environment, stdout=said, stderr=said)
            )
    try:
        _until(lambda: "idle" in _said("sinfo", environment), started, 60)
        yield environment
    finally:
        subprocess.run(["scancel", f"--user={getpass.getuser()}"], env=os.environ | environment)
        for daemon in reversed(started):
            daemon.terminate()
            daemon.wait()


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [free.getsockname()[1] for free in sockets]
    for free in sockets:
        free.close()
    return ports


def _said(command: str, environment: dict[str, str]) -> str:
    words, env = command.split(), os.environ | environment
    return subprocess.run(words, env=env, capture_output=True, text=True).stdout


def _until(
    holds: Callable[[], object], alive: Sequence[subprocess.Popen[bytes]], seconds: float
) -> None:
    """Return when something holds; end where a process that should bring it about has ended."""
    begun = time.monotonic()
    while not holds():
        if time.monotonic() - begun > seconds or any(one.poll() is not None for one in alive):
            sys.exit("what was waited for did not come")
        time.sleep(0.2)


class Project:
    """A copy of the project, whose graph runs with a launcher, or with none."""

    def __init__(self, root: Path, overrides: Sequence[str], environment: dict[str, str]) -> None:
        self.root, self.environment = root, environment
        copy_project(root, overrides)

    def start(self, *targets: str, jobs: int = 1, **more: str) -> subprocess.Popen[bytes]:
        """`aiayn repro` of some stages and what they need."""
        path = self.environment.get("PATH", os.environ["PATH"])
        ours = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{path}",
            "PYTHONPATH": str(self.root / "src"),
        }  # fmt: skip
        environment = os.environ | self.environment | ours | more
        with (self.root / "said.txt").open("ab") as said:
            return subprocess.Popen(
                ["aiayn", "repro", "--jobs", str(jobs), *targets],
                cwd=self.root, stdout=said, stderr=said, env=environment,
            )  # fmt: skip

    def finish(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for its end, which must be a good one."""
        if process.wait():
            sys.exit(f"the graph failed:\n{(self.root / 'said.txt').read_text()}")

    def scontrol(self, command: str) -> str:
        """What it says of the one job."""
        (job,) = _said("squeue --noheader --format=%i", self.environment).split()
        return _said(f"scontrol {command.format(job=job)}", self.environment)

    def log(self) -> str:
        """What all jobs of the training have said, the first first."""
        files = (self.root / "logs").glob(f"{TRAIN}.*.log")
        return "".join(
            file.read_text() for file in sorted(files, key=lambda f: int(f.name.split(".")[-2]))
        )

    def steps(self) -> list[int]:
        """The step of each line of history in a job's log."""
        return [int(step) for step in re.findall(r"^step ([\d,]+) of", self.log(), re.M)]

    def outputs(self) -> dict[str, str]:
        """Digest of everything that was made of the run, run metadata left out."""
        folders = (paths.model(RUN), paths.outputs(RUN))
        files = [file for folder in folders for file in sorted((self.root / folder).rglob("*"))]
        files += [self.root / paths.history(RUN), self.root / paths.scores(RUN)]
        return {
            str(file.relative_to(self.root)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.is_file()
        }


def requeued(project: Project) -> None:
    """An administrator, a preemption or a failing node sends the job back into the queue."""
    graph = project.start(TRAIN)
    _until(lambda: len(project.steps()) > 3, [graph], 600)
    project.scontrol("requeue {job}")
    project.finish(graph)


def limited(project: Project) -> None:
    """The limit moves to less than three minutes from now: SLURM, which looks every half a minute,
    signals the job's script at once. The next start has an hour.
    """
    graph = project.start(TRAIN, SBATCH_TIMELIMIT="60")
    _until(lambda: len(project.steps()) > 3, [graph], 600)
    minutes = project.scontrol("show job {job}").partition("RunTime=")[2].split(":")[1]
    project.scontrol(f"update JobId={{job}} TimeLimit={int(minutes) + 2}")
    _until(lambda: "goes back into the queue" in project.log(), [graph], 600)
    project.scontrol("update JobId={job} TimeLimit=60")
    project.finish(graph)


def orphaned(project: Project) -> None:
    """The login node goes down while the job trains; then the same command again."""
    graph = project.start(TRAIN)
    _until(lambda: len(project.steps()) > 3, [graph], 600)
    for process in [*_started_by(graph.pid), graph.pid]:
        os.kill(process, signal.SIGKILL)
    graph.wait()
    project.finish(project.start(TRAIN))


def _started_by(pid: int) -> list[int]:
    """Processes that a process started, and those that they did; SLURM's jobs are none of them."""
    pairs = [line.split() for line in _said("ps -eo pid=,ppid=", {}).splitlines()]
    own = [int(child) for child, parent in pairs if int(parent) == pid]
    return [*own, *(below for child in own for below in _started_by(child))]


DISTURBANCES: tuple[Callable[[Project], None] | None, ...] = (None, requeued, limited, orphaned)


def small(folder: Path, environment: dict[str, str], last: int) -> bool:
    """Every disturbance of a training of `last` steps; whether all came out well."""
    # nothing is saved but at the end, or when a job is asked to stop
    overrides = (*SMALL, f"models.base.steps={last}", f"models.base.checkpoint_steps={last}")
    here = Project(folder / "here", (*overrides, "launcher=here"), {})
    here.finish(here.start(f"score@{RUN}"))
    expected, well = here.outputs(), True
    slurm = (*overrides, "launcher=slurm", "launcher.gpus=0")
    for disturb in DISTURBANCES:
        name = disturb.__name__ if disturb else "undisturbed"
        project = Project(folder / name, slurm, environment)
        if disturb:
            project.finish(project.start(f"encode@{RUN.partition('.')[0]}"))
            disturb(project)
        project.finish(project.start(f"score@{RUN}"))
        steps, starts = project.steps(), len(re.findall(r", start \d+: ", project.log()))
        is_same = project.outputs() == expected
        never_twice = steps == sorted({*steps}) and steps[-1] == last
        trained = read_train(project.root / paths.training_metadata(RUN))
        facts = {
            "what": name, "same_bytes": is_same, "no_step_twice": never_twice,
            "starts_of_jobs": starts, "starts_of_the_training": trained.starts,
        }  # fmt: skip
        print(json.dumps(facts), flush=True)
        well &= is_same and never_twice and (disturb is None) == (starts == 1)
    return well


def whole(folder: Path, environment: dict[str, str]) -> bool:
    """The demo graph; whether all that dvc.lock has of its runs comes out with the same digests."""
    project = Project(folder / "demo", ("launcher=slurm", "launcher.gpus=0"), environment)
    project.finish(project.start(jobs=2 * (os.cpu_count() or 1)))
    ours, theirs = (Lock(root / paths.LOCK) for root in (project.root, REPOSITORY))
    runs = [path.stem for path in sorted((project.root / paths.HISTORIES).glob("*.csv"))]
    made = [place for run in runs for place in _made_of(run)]
    if others := [place for place in made if ours.out(place) != theirs.out(place)]:
        print(f"not as in dvc.lock: {', '.join(others)}")
    print(f"{len(made) - len(others)} of {len(made)} outputs of {len(runs)} runs as in dvc.lock")
    return not others


def _made_of(run: str) -> list[str]:
    """Weights, learning curve, hypotheses and scores."""
    weights = paths.checkpoints(paths.model(run))
    files = (weights, paths.history(run), paths.outputs(run), paths.scores(run))
    return [place.as_posix() for place in files]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument(
        "--steps", type=int, default=STEPS, help="of each training; fewer where slow"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cluster").mkdir()
        with cluster(folder / "cluster") as environment:
            if arguments.whole:
                well = whole(folder, environment)
            else:
                well = small(folder, environment, arguments.steps)
    sys.exit(not well)


if __name__ == "__main__":
    main()
