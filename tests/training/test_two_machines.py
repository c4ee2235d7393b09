"""Two machines with a process each, joined by torchrun's rendezvous, one of which dies; here, both are
this machine."""

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

# a small training; the second machine dies after a step: torchrun's agent and its process
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

shared, local = load("shared", {str(TESTS / "conftest.py")!r}), load("local", {str(TESTS / "training/conftest.py")!r})
torch.set_num_threads(1)

@one_line_errors
def main():
    processes, device = Processes.from_environment(), Device(torch.device("cpu"), "float32")
    with process_group(processes, device):
        model = shared.TINY.replace(steps={STEPS}, checkpoint_steps={SAVED})
        job = Job("en-de.tiny", "translation", model, local.SETTINGS, 1, "tokens", "code")
        arrays = local.random_arrays(200), local.random_arrays(20, 1)
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

Exit = tuple[int, str]


@pytest.fixture
def train_on_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Exit]]:
    """Train on both machines until one dies; exit code and stderr of each agent."""
    (tmp_path / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)

    def train() -> list[Exit]:
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
        exits = []
        for agent in agents:
            _, stderr = agent.communicate(timeout=300)
            exits.append((agent.returncode, stderr))
        return exits

    return train


def checkpoint_digests(scratch: str) -> dict[str, str]:
    """Digest of each checkpoint."""
    files = paths.saved_checkpoints(Path(scratch))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.slow
def test_resuming_after_a_lost_machine_gives_the_same_bits(
    train_on_both: Callable[[], list[Exit]],
    train_together: Callable[..., list[Exit]],
    tmp_path: Path,
) -> None:
    columns = {"steps": STEPS, "checkpoint_steps": SAVED}
    exits = train_on_both()
    (survivor_stderr,) = (stderr for code, stderr in exits if code == 1)
    assert sorted(code for code, _ in exits) == [-9, 1]
    (error,) = (line for line in survivor_stderr.splitlines() if line.startswith("TrainingError: "))
    assert " 0 of 2 lost another one; the cause is in that one's own message (" in error
    assert [*checkpoint_digests("scratch")] == ["step-0000010.safetensors"]
    for scratch, done in (("scratch", SAVED), ("never_killed", 0)):
        check_resumed = f"assert trainer.step_number > {done}"
        exits = train_together(tmp_path / scratch, 2, columns=columns, on_step=check_resumed)
        assert [code for code, _ in exits] == [0, 0], exits
    assert [*checkpoint_digests("scratch")] == [
        "step-0000020.safetensors",
        "step-0000030.safetensors",
    ]
    assert checkpoint_digests("scratch") == checkpoint_digests("never_killed")
