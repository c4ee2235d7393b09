"""A training uses the kernels only if they compile, and give torch's gradients, in all processes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from tests.gpu.conftest import Gpu
from tests.gpu.small import trainer
from torch import Tensor

from aiayn.model.device import Device
from aiayn.training.gpu import check, layers
from aiayn.training.gpu.check import usable_triton
from aiayn.training.processes import Processes

WARNING = "Training without Triton's kernels, more slowly: "
Capture = pytest.CaptureFixture[str]


class FailedPeer(Processes):
    """One of two processes, of which the other has failed."""

    def add_up(self, tensor: Tensor) -> Tensor:
        return tensor.add_(1)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    """A device for which the kernels are requested, and compile."""
    monkeypatch.setattr(check, "triton_version", lambda device: "3.7.1")
    monkeypatch.setattr(torch, "tensor", lambda *values, device: torch.Tensor(*values))
    return Device(torch.device("cuda", 0), "bfloat16")


def gradients(factor: float, calls: list[bool] | None = None) -> Callable[[bool], Tensor]:
    def of(with_kernels: bool) -> Tensor:
        if calls is not None:
            calls.append(with_kernels)
        return torch.arange(1.0, 9) * (factor if with_kernels else 1)

    return of


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_cpu_and_float32_never_use_the_kernels(precision: str, capsys: Capture) -> None:
    for device_type in ("cpu", "cuda"):
        if (device_type, precision) != ("cuda", "bfloat16"):
            calls: list[bool] = []
            device = Device(torch.device(device_type), precision)
            assert usable_triton(device, Processes(), gradients(1, calls)) is None
            assert calls == []
    assert capsys.readouterr().err == ""


def test_gradients_that_agree(device: Device, capsys: Capture) -> None:
    calls: list[bool] = []
    assert usable_triton(device, Processes(), gradients(1.01, calls)) == "3.7.1"
    assert sorted(calls) == [False, True]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("factor", [1.2, 0.5, math.nan])
def test_gradients_that_differ(device: Device, factor: float, capsys: Capture) -> None:
    assert usable_triton(device, Processes(), gradients(factor)) is None
    warning = capsys.readouterr().err
    assert warning.startswith(f"{WARNING}their gradients differ from torch's by ")
    assert warning.count("\n") == 1


def test_kernels_that_cannot_be_compiled(
    device: Device, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def fails(device: Device) -> str:
        raise RuntimeError("no C compiler\nwas found")

    monkeypatch.setattr(check, "triton_version", fails)
    assert usable_triton(device, Processes(), gradients(1)) is None
    assert capsys.readouterr().err == f"{WARNING}RuntimeError: no C compiler was found\n"
    assert usable_triton(device, Processes(rank=1), gradients(1)) is None
    assert capsys.readouterr().err == ""


def test_no_process_uses_the_kernels_if_another_cannot(device: Device, capsys: Capture) -> None:
    assert usable_triton(device, FailedPeer(count=2), gradients(1)) is None
    assert capsys.readouterr().err == f"{WARNING}1 other process(es) cannot use them\n"


def test_a_wrong_kernel_is_not_used(
    simulated: Gpu, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A product that overwrites the gradients before it, which one micro-batch alone would hide."""
    device = simulated.open("bfloat16")
    assert trainer(device).kernels is not None

    def overwriting(sums: Tensor, a: Tensor, b: Tensor) -> None:
        sums.zero_()
        torch.ops.aten.addmm.dtype_out(sums, a, b, torch.float32, out=sums)

    monkeypatch.setattr(layers, "_add_product", overwriting)
    assert trainer(device).kernels is None
    assert f"{WARNING}their gradients differ" in capsys.readouterr().err
