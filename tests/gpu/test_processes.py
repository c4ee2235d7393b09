"""Several processes train the same model as one: with NCCL if there are two GPUs, with gloo anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.gpu.small import losses, trainer
from tests.gpu.training_process import MICRO_BATCHES, ROW, STEPS

from aiayn.model.device import open_device

ROOT = Path(__file__).resolve().parents[2]
GPUS = torch.cuda.device_count() if torch.cuda.is_available() else 0
SCRIPT = "import sys; from tests.gpu.training_process import main; main(sys.argv[1])"


def train_together(device: str, folder: Path) -> dict[str, Any]:
    """Losses of two processes, and their weights' digest."""
    script = folder / "train.py"
    script.write_text(SCRIPT)
    return json.loads(run_in_two_processes(script, device))


def run_in_two_processes(script: Path, *arguments: str) -> str:
    """The output of a script in two processes."""
    completed = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", script, *arguments],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr[-3000:]
    return completed.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param(
            "cuda", marks=pytest.mark.skipif(GPUS < 2, reason=f"needs two GPUs, torch sees {GPUS}")
        ),
    ],
)
def test_two_processes_train_the_same_model_as_one(device: str, tmp_path: Path) -> None:
    single = open_device(device, "float32", d_model=ROW.d_model, threads=1)
    expected = losses(trainer(single, ROW, micro_batches=MICRO_BATCHES), STEPS)
    together = train_together(device, tmp_path)
    assert together["losses"] == pytest.approx(expected, rel=1e-4)
    if device == "cuda":  # gloo is tested in tests/training
        assert train_together(device, tmp_path) == together


PARTS = """
import torch
from aiayn.training.processes import Processes, process_group
from aiayn.model.device import Device
processes = Processes.from_environment()
torch.manual_seed(processes.rank)
whole = torch.randn(100_003)
parts = whole.clone()
with process_group(processes, Device(torch.device("cpu"), "float32")):
    processes.add_up(whole)
    waits = [processes.begin_to_add_up(parts[begin:begin + 30_000]) for begin in range(90_000, -1, -30_000)]
    for wait in waits:
        wait()
if processes.is_first:
    print(torch.equal(whole, parts), float((whole - whole.mean()).std()) > 1.3)
"""


@pytest.mark.slow
def test_sums_of_parts_are_those_of_the_whole(tmp_path: Path) -> None:
    """By gloo, bit for bit; a sum of two standard normal numbers has a standard deviation of 1.41."""
    script = tmp_path / "parts.py"
    script.write_text(PARTS)
    assert run_in_two_processes(script) == "True True\n"
