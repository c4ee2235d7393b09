"""Two machines of a process each, as torchrun joins them by a rendezvous, one of which dies; here both
are this one."""

from __future__ import annotations

import hashlib
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aiayn.results import paths

TESTS = Path(__file__).resolve().parents[1]
STEPS, SAVED, KILLED = 30, 10, 15

# a small training; the second machine dies after a step: torchrun's agent and what it started
TRAIN = f"""
import importlib.util, os, signal, sys
from pathlib import Path
import torch
from aiayn.model.device import Device
from aiayn.training.processes import Processes, process_group
from aiayn.errors import one_line_errors
from aiayn.training.job import Job
from aiayn.training.loop import fit
from aiayn.training.trainer import Trainer

def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

top, here = load("top", {str(TESTS / "conftest.py")!r}), load("here", {str(TESTS / "training/conftest.py")!r})
torch.set_num_threads(1)

@one_line_errors
def main():
    processes, device = Processes.from_environment(), Device(torch.device("cpu"), "float32")
    with process_group(processes, device):
        model = top.TINY.replace(steps={STEPS}, checkpoint_steps={SAVED})
        job = Job("en-de.tiny", "translation", model, here.SETTINGS, 1, "tokens", "code")
        arrays = here.random_arrays(200), here.random_arrays(20, 1)
        trainer = Trainer(job, *arrays, device, processes)
        step = trainer.step
        def dying_step():
            step()
            if trainer.step_number == {KILLED} and processes.rank == 1:
                os.kill(os.getppid(), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
        trainer.step = dying_step
        fit(trainer, Path("scratch"))

main()
"""

End = tuple[int, str]


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[End]]:
    """Train on both machines until one dies; how the agent of each ended, and what it said."""
    (tmp_path / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)

    def train() -> list[End]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        agents = [
            subprocess.Popen(
                [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1",
                 "--max-restarts=0", "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{port}",
                 "train.py"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )
            for _ in range(2)
        ]  # fmt: skip
        ends = []
        for agent in agents:
            _, said = agent.communicate(timeout=300)
            ends.append((agent.returncode, said))
        return ends

    return train


def made(scratch: str) -> dict[str, str]:
    """Digest of each checkpoint."""
    files = paths.saved_checkpoints(Path(scratch))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.slow
def test_what_two_machines_leave_goes_on_with_the_same_bits(
    both: Callable[[], list[End]], train_together: Callable[..., list[End]], tmp_path: Path
) -> None:
    columns = {"steps": STEPS, "checkpoint_steps": SAVED}
    ends = both()
    (left,) = (said for code, said in ends if code == 1)
    assert sorted(code for code, _ in ends) == [-9, 1]
    (said,) = (line for line in left.splitlines() if line.startswith("TrainingError: "))
    assert " 0 of 2 lost another one; the cause is in that one's own message (" in said
    assert [*made("scratch")] == ["step-0000010.safetensors"]
    for scratch, done in (("scratch", SAVED), ("never_killed", 0)):
        goes_on = f"assert trainer.step_number > {done}"
        ends = train_together(tmp_path / scratch, 2, columns=columns, on_step=goes_on)
        assert [code for code, _ in ends] == [0, 0], ends
    assert [*made("scratch")] == ["step-0000020.safetensors", "step-0000030.safetensors"]
    assert made("scratch") == made("never_killed")
