"""Too few GPUs are a one-line error with the reason, on simulated machines."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from aiayn.errors import TrainingError
from aiayn.model import gpus
from aiayn.model.device import open_device
from aiayn.model.gpus import require_gpus


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    return Machine(monkeypatch, tmp_path)


class Machine:
    """What torch finds on a machine: driver, its own build, GPUs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.patch, self.version = monkeypatch, folder / "version"
        monkeypatch.setattr(gpus, "DRIVER_VERSION", self.version)
        monkeypatch.setattr(torch, "__version__", "2.13.0")
        monkeypatch.delenv(gpus.VISIBLE, raising=False)

    def has(self, visible: int, *, driver: str | None, build: str | None) -> None:
        self.patch.setattr(torch.version, "cuda", build)
        self.patch.setattr(torch.cuda, "is_available", lambda: visible > 0)
        self.patch.setattr(torch.cuda, "device_count", lambda: visible)
        if driver:
            self.version.write_text(f"{driver}\n")


GPU_REQUESTED = "a GPU is asked for (machine.device, launcher.gpus in params.yaml), but "


@pytest.mark.parametrize(
    ("driver", "build", "reason"),
    [
        ("580.65.06", None, "torch 2.13.0 is built without CUDA; the NVIDIA driver is 580.65.06. Install a CUDA build of torch, "),
        (None, None, "torch 2.13.0 is built without CUDA; no NVIDIA driver is loaded. Install a CUDA build of torch, "),
        (None, "13.0", "no NVIDIA driver is loaded; torch 2.13.0 is built for CUDA 13.0. Use a machine with an NVIDIA GPU, "),
        ("535.129.03", "13.0", "the NVIDIA driver is 535.129.03 and torch 2.13.0 is built for CUDA 13.0, which needs 580 or newer. Update the driver, install a build of torch for an older CUDA, "),
        ("535.129.03", "12.6", "torch sees none; the NVIDIA driver is 535.129.03, torch 2.13.0 is built for CUDA 12.6. Make a GPU visible, "),
    ],
)  # fmt: skip
def test_no_gpu(machine: Machine, driver: str | None, build: str | None, reason: str) -> None:
    machine.has(0, driver=driver, build=build)
    with pytest.raises(TrainingError) as error:
        open_device("cuda", "auto", d_model=512)
    assert str(error.value) == f"{GPU_REQUESTED}{reason}or set machine.device to cpu."


def test_hidden_gpus(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.has(0, driver="580.65.06", build="13.0")
    monkeypatch.setenv(gpus.VISIBLE, "")
    with pytest.raises(
        TrainingError, match=r"sees none \(CUDA_VISIBLE_DEVICES is ''\); the NVIDIA"
    ):
        require_gpus(1)


def test_fewer_gpus_than_processes(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.has(2, driver="580.65.06", build="13.0")
    require_gpus(2)
    with pytest.raises(TrainingError) as error:
        open_device("cuda", "auto", d_model=512, local_rank=3, local_count=8)
    assert str(error.value) == (
        "8 GPUs are asked for, one per process (launcher.gpus in params.yaml), but torch sees 2 "
        "here. Ask for 2: make repro GPUS=2"
    )
    monkeypatch.setenv(gpus.VISIBLE, "0,1")
    with pytest.raises(TrainingError, match=r"sees 2 here \(CUDA_VISIBLE_DEVICES is '0,1'\)"):
        require_gpus(8)


def test_auto_is_an_error_if_the_driver_is_too_old(machine: Machine) -> None:
    machine.has(0, driver="535.129.03", build="13.0")
    with pytest.raises(TrainingError, match="which needs 580 or newer"):
        open_device("auto", "auto", d_model=512)
