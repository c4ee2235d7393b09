"""The project on a simulated GPU: tensors that report cuda and compute on the CPU.

cuda_stand_in.cpp has to be loaded before torch, so the tests of this folder run in a separate process.
What that covers, and what it cannot, is in docs/decisions/gpu.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.gpu.simulated_gpu import SIMULATED, build_stand_in

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TESTS = (
    "test_training.py",
    "test_graphs.py",
    "test_decoding.py",
    "test_operators.py",
    "test_faults.py",
)
PYTEST = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); import pytest; sys.exit(pytest.main(sys.argv[2:]))"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++, to build a device guard"),
    pytest.mark.skipif(
        torch.version.cuda is not None, reason="this build of torch has CUDA itself"
    ),
]


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The device guard as a library."""
    return build_stand_in(tmp_path_factory.mktemp("stand_in"))


def test_on_a_simulated_gpu(stand_in: Path) -> None:
    arguments = ["-q", "-p", "no:cacheprovider", "-n", "0", *(HERE / name for name in TESTS)]
    completed = subprocess.run(
        [sys.executable, "-c", PYTEST, stand_in, *map(str, arguments)],
        cwd=ROOT, env=os.environ | {SIMULATED: "1", "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "skipped" not in completed.stdout, "the tests did not find the simulated GPU"
    assert completed.returncode == 0, completed.stdout[-6000:] + completed.stderr[-2000:]
