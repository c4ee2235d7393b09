"""Whether a training uses the kernels: where they compile, and give the gradients of torch."""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import Tensor

from aiayn.model.device import Device
from aiayn.training.gpu.operators import triton_version
from aiayn.training.processes import Processes

# of gradients in the norm, relative: both paths round to bfloat16, which moves them by about 1 %
LARGEST_DIFFERENCE = 0.05


def usable_triton(
    device: Device, processes: Processes, gradients: Callable[[bool], Tensor]
) -> str | None:
    """The version of the Triton whose kernels all processes use; None where torch's own are used:
    on a CPU, for products in float32, and if the kernels of any process cannot be compiled or are
    wrong, which the first process prints in one line.

    Args:
        gradients: of a small model, by the kernels (True) or by torch alone, as one vector.
    Raises:
        TrainingError: another process has ended.
    """
    if device.device.type != "cuda" or device.precision != "bfloat16":
        return None
    version, problem = None, ""
    try:
        version = triton_version(device)
        expected = gradients(False)
        difference = float((gradients(True) - expected).norm() / expected.norm())
        if not difference <= LARGEST_DIFFERENCE:  # it may be NaN
            problem = f"their gradients differ from torch's by {difference:.0%}"
    # a missing package or C compiler, an unknown GPU: each has its own exceptions
    except Exception as error:
        problem = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    failed = torch.tensor([float(bool(problem))], device=device.device)
    failures = int(processes.add_up(failed).item())
    if failures and processes.is_first:
        reason = problem or f"{failures} other process(es) cannot use them"
        print(f"Training without Triton's kernels, more slowly: {reason}", file=sys.stderr)
    return None if failures else version
