"""Is a finished training ever lost? Kills `dvc repro` between the last training step and dvc.lock.

In a copy of the project at a small scale: train a run, kill -9 DVC and everything that it started
at a moment of that window, start it again, and check whether it trained again and what is left. The
moments are spread evenly over the window of an undisturbed run. Prints a line for each and a count
at the end; exits with 1 if a training was lost or ended with other bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.project_copy import copy_project

from aiayn.results import paths
from aiayn.results.metadata import TrainingMetadata, read_train

RUN, TASK, STEPS = "en-de.base", "en-de", 30
STAGE = f"train@{RUN}"
SMALL = (
    f"models.base.steps={STEPS}",
    "models.base.average=3",
    "models.base.checkpoint_steps=10",
    "catalogue.corpora.demo-train.grammar.sentences=1000",
)
LAST = paths.checkpoint(Path(), STEPS).name


class Project:
    """A copy of the project, at a small scale, with tokens to train on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        copy_project(root, SMALL)
        self.finish(f"encode@{TASK}")
        self.lock_before = (root / paths.LOCK).read_bytes()

    def start(self, target: str) -> subprocess.Popen[bytes]:
        """`dvc repro` of one stage and what it needs, in a new process group."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        with (self.root / "said.txt").open("ab") as said:
            return subprocess.Popen(
                ["dvc", "repro", "--quiet", target], cwd=self.root, start_new_session=True,
                stdout=said, stderr=said,
                env={**os.environ, "PATH": path, "PYTHONPATH": str(self.root / "src")},
            )  # fmt: skip

    def finish(self, target: str) -> None:
        """The same, to its end."""
        if self.start(target).wait():
            sys.exit(f"dvc repro {target} failed:\n{(self.root / 'said.txt').read_text()}")

    def forget(self) -> None:
        """As before the first training: no output, no record of it, no run cache."""
        for name in (paths.MODELS, paths.SCRATCH, paths.HISTORIES, paths.METADATA):
            shutil.rmtree(self.root / name, ignore_errors=True)
        shutil.rmtree(self.root / ".dvc/cache/runs", ignore_errors=True)
        (self.root / paths.LOCK).write_bytes(self.lock_before)

    def wait_for_last_step(self) -> None:
        """Until the weights after the last step are saved."""
        while not list((self.root / paths.SCRATCH).glob(f"*/{LAST}")):
            time.sleep(0.001)

    @property
    def is_recorded(self) -> bool:
        """Whether dvc.lock has the training."""
        return STAGE.encode() in (self.root / paths.LOCK).read_bytes()

    def outputs(self) -> dict[str, str]:
        """Digest of everything that the training made, run metadata left out."""
        files = [self.root / paths.history(RUN)]
        files += paths.saved_checkpoints(paths.checkpoints(self.root / paths.model(RUN)))
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    def run_metadata(self) -> TrainingMetadata:
        """Of the training that left the outputs."""
        return read_train(self.root / paths.training_metadata(RUN))


def window(project: Project) -> float:
    """Seconds from the last step until dvc.lock has the training, undisturbed."""
    project.forget()
    process = project.start(STAGE)
    project.wait_for_last_step()
    begun = time.perf_counter()
    while not project.is_recorded:
        time.sleep(0.001)
    seconds = time.perf_counter() - begun
    process.wait()
    return seconds


def kill(project: Project, after: float) -> bool:
    """Train and kill `after` seconds from the last step; whether that was before dvc.lock."""
    project.forget()
    process = project.start(STAGE)
    project.wait_for_last_step()
    time.sleep(after)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return not project.is_recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=20)
    moments = parser.parse_args().moments
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        seconds = window(project)
        expected = project.outputs()
        print(f"from the last step to dvc.lock: {seconds:.2f} s", flush=True)
        kept = 0
        for number in range(moments):
            after = seconds * number / moments
            while not kill(project, after):  # a run quicker than the first: it was over by then
                after *= 0.8
            killed = datetime.now(UTC)
            project.finish(STAGE)
            found = project.run_metadata()
            # a second start that begins at the last step counts as one, and takes over the seconds
            again = datetime.fromisoformat(found.ended) > killed and found.starts == 1
            same = project.outputs() == expected
            kept += same and not again
            facts = {"after_s": round(after, 2), "trained_again": again, "same_bytes": same}
            print(json.dumps(facts), flush=True)
        print(f"{kept} of {moments} finished without training again, with the same bytes")
        sys.exit(kept != moments)


if __name__ == "__main__":
    main()
