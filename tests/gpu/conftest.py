"""The GPU of these tests: the machine's own or, in the process that test_pretended_gpu.py starts, a
pretended one. Where there is neither, they are skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from tests.gpu.pretended_gpu import PRETENDED, pretended_gpu, recorded
from tests.gpu.small import SMALL

from aiayn.model.device import CUBLAS_WORKSPACE, NCCL_NVLS, Device, open_device


class Gpu:
    """Attributes:
    digits: relative difference to a CPU in float32 that the order of summation may make.
    """

    digits = 1e-4

    def open(self, precision: str) -> Device:
        return open_device("cuda", precision, d_model=SMALL.d_model)

    @contextmanager
    def forbidden_to_wait(self) -> Iterator[None]:
        """An error where the host waits for the GPU inside the block."""
        torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")


class PretendedGpu(Gpu):
    digits = 1e-6

    @contextmanager
    def forbidden_to_wait(self) -> Iterator[None]:
        with recorded() as record:
            yield
        assert not record.waits


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    for name in (CUBLAS_WORKSPACE, NCCL_NVLS):
        monkeypatch.delenv(name, raising=False)
    if PRETENDED in os.environ:
        with pretended_gpu():
            yield PretendedGpu()
    elif torch.cuda.is_available():
        yield Gpu()
    else:
        pytest.skip("torch sees no GPU here; test_pretended_gpu.py runs this on a pretended one")


@pytest.fixture
def pretended(gpu: Gpu) -> Gpu:
    """For what only a pretended GPU can tell."""
    if not isinstance(gpu, PretendedGpu):
        pytest.skip("needs a pretended GPU, on which operators can be counted")
    return gpu
