"""The GPU of these tests: the machine's own or, in the process that test_simulated_gpu.py starts, a
simulated one. Without either, they are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from tests.gpu.simulated_gpu import SIMULATED, recorded, simulated_gpu
from tests.gpu.small import SMALL

from aiayn.model.device import CUBLAS_WORKSPACE, NCCL_NVLS, Device, open_device


class Gpu:
    """Attributes:
    tolerance: relative difference to a CPU in float32, from the order of summation.
    """

    tolerance = 1e-4

    def open(self, precision: str) -> Device:
        return open_device("cuda", precision, d_model=SMALL.d_model)

    @contextmanager
    def waiting_forbidden(self) -> Iterator[None]:
        """Raise an error if the host waits for the GPU inside the block."""
        torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")


class SimulatedGpu(Gpu):
    tolerance = 1e-6

    @contextmanager
    def waiting_forbidden(self) -> Iterator[None]:
        with recorded() as record:
            yield
        assert not record.waits


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    for name in (CUBLAS_WORKSPACE, NCCL_NVLS):
        monkeypatch.delenv(name, raising=False)
    if SIMULATED in os.environ:
        with simulated_gpu():
            yield SimulatedGpu()
    elif torch.cuda.is_available():
        yield Gpu()
    else:
        pytest.skip("torch sees no GPU here; test_simulated_gpu.py runs this on a simulated one")


@pytest.fixture
def simulated(gpu: Gpu) -> Gpu:
    """The simulated GPU, for what no real one reports."""
    if not isinstance(gpu, SimulatedGpu):
        pytest.skip("needs a simulated GPU, on which operators can be counted")
    return gpu
