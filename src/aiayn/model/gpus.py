"""The GPUs that torch can use on this machine and, where they are too few, the reason."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import torch

from aiayn.errors import TrainingError

DRIVER_VERSION = Path("/sys/module/nvidia/version")  # written by the kernel module
OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}  # that runs a build for this major version of CUDA
VISIBLE = "CUDA_VISIBLE_DEVICES"


def visible_gpus() -> int:
    """How many GPUs torch can use."""
    with warnings.catch_warnings():  # torch's own, of several lines, about an old driver
        warnings.simplefilter("ignore")
        return torch.cuda.device_count() if torch.cuda.is_available() else 0


def is_driver_too_old() -> bool:
    """Whether this machine's NVIDIA driver is older than this build of torch needs."""
    driver, build = _driver(), torch.version.cuda
    if driver is None or build is None:
        return False
    return int(driver.split(".")[0]) < OLDEST_DRIVER.get(int(build.split(".")[0]), 0)


def require_gpus(number: int) -> None:
    """Check that torch can use this number of GPUs.

    Raises:
        TrainingError: it sees fewer; names the driver and what torch is built for if it sees none.
    """
    visible = visible_gpus()
    if visible >= number:
        return
    if visible == 0:
        raise TrainingError(
            f"a GPU is asked for (machine.device, launcher.gpus in params.yaml), but {_reason()}, "
            "or set machine.device to cpu."
        )
    raise TrainingError(
        f"{number} GPUs are asked for, one per process (launcher.gpus in params.yaml), but torch "
        f"sees {visible} here{_restriction()}. Ask for {visible}: make repro GPUS={visible}"
    )


def _reason() -> str:
    driver, build = _driver(), torch.version.cuda
    if build is None:
        found = f"the NVIDIA driver is {driver}" if driver else "no NVIDIA driver is loaded"
        return (
            f"torch {torch.__version__} is built without CUDA; {found}. Install a CUDA build of "
            "torch"
        )
    built = f"torch {torch.__version__} is built for CUDA {build}"
    if driver is None:
        return f"no NVIDIA driver is loaded; {built}. Use a machine with an NVIDIA GPU"
    if is_driver_too_old():
        oldest = OLDEST_DRIVER[int(build.split(".")[0])]
        return (
            f"the NVIDIA driver is {driver} and {built}, which needs {oldest} or newer. Update the "
            "driver, install a build of torch for an older CUDA"
        )
    return (
        f"torch sees none{_restriction()}; the NVIDIA driver is {driver}, {built}. Make a GPU "
        "visible"
    )


def _restriction() -> str:
    return f" ({VISIBLE} is {os.environ[VISIBLE]!r})" if VISIBLE in os.environ else ""


def _driver() -> str | None:
    try:
        return DRIVER_VERSION.read_text().strip()
    except OSError:
        return None
