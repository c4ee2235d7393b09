"""The kernels as operators of torch (torch.ops.aiayn), which tools can see and count; Triton is
imported when the first one runs on a GPU. What they compute is in kernels.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.library import Library

from aiayn.model.device import Device

STREAM = "float p, Tensor stream_1, int site"
GRADIENTS = "Tensor? grad_out, Tensor? grad_rounded"
SCHEMAS = (
    "smoothed_cross_entropy_(Tensor(a!) logits_NP, Tensor targets_N, float eps_ls, int pad, "
    "bool writes_gradient) -> Tensor",
    f"residual_norm(Tensor x, Tensor y, Tensor weight_D, Tensor bias_D, float eps, {STREAM}) "
    "-> (Tensor, Tensor)",
    f"residual_norm_backward({GRADIENTS}, Tensor x, Tensor y, Tensor weight_D, "
    f"Tensor(a!) grad_weight_D, Tensor(b!) grad_bias_D, float eps, {STREAM}) -> (Tensor, Tensor)",
    f"dropout(Tensor x, {STREAM}) -> (Tensor, Tensor)",
    f"dropout_backward({GRADIENTS}, {STREAM}) -> Tensor",
)
LIBRARY = Library("aiayn", "DEF")  # type: ignore[no-untyped-call]


def _kernel(name: str) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        from aiayn.training.gpu import kernels

        return getattr(kernels, name)(*arguments)

    return run


for schema in SCHEMAS:
    name = LIBRARY.define(schema)  # type: ignore[no-untyped-call]
    LIBRARY.impl(name, _kernel(name), "CUDA")  # type: ignore[no-untyped-call]

OPERATORS = getattr(torch.ops, LIBRARY.ns)


def triton_version(device: Device, *, tells: bool) -> str | None:
    """Of the Triton that compiles the kernels for a device; None where they are not used: on a CPU,
    for products in float32, and where no kernel can be compiled, which is told if `tells`.
    """
    if device.device.type != "cuda" or device.precision != "bfloat16":
        return None
    try:
        import triton

        numbers = torch.zeros(1, 8, device=device.device)
        OPERATORS.dropout(numbers, 0.5, torch.zeros_like(numbers, dtype=torch.int64), 0)
    # a missing package or C compiler, an unknown GPU: each has its own exceptions
    except Exception as error:
        if tells:
            reason = " ".join(str(error).split())[:200]
            print(
                f"Training without Triton's kernels, more slowly: {type(error).__name__}: {reason}",
                file=sys.stderr,
            )
        return None
    version: str = triton.__version__
    return version
