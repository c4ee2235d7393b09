"""Several processes train what one does: by NCCL where there are two GPUs, and by gloo everywhere."""

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
    """Losses and the weights' digest of two processes."""
    script = folder / "train.py"
    script.write_text(SCRIPT)
    return json.loads(launched(script, device))


def launched(script: Path, *arguments: str) -> str:
    """What two processes print."""
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", script, *arguments],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


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
def test_two_processes_train_what_one_does(device: str, tmp_path: Path) -> None:
    alone = open_device(device, "float32", d_model=ROW.d_model, threads=1)
    expected = losses(trainer(alone, ROW, micro_batches=MICRO_BATCHES), STEPS)
    together = train_together(device, tmp_path)
    assert together["losses"] == pytest.approx(expected, rel=1e-4)
    if device == "cuda":  # by gloo, tests/training says it
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
    """By gloo, bit for bit; a sum of two normal numbers deviates by 1.41."""
    script = tmp_path / "parts.py"
    script.write_text(PARTS)
    assert launched(script) == "True True\n"
