"""The kernels as operators of torch (torch.ops.aiayn), which tools can see and count; Triton is
imported when the first one runs on a GPU. What they compute is in kernels.py."""

from __future__ import annotations

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


def triton_version(device: Device) -> str:
    """Of the Triton that compiles kernels for a GPU, once it has compiled and run one.

    Raises:
        Exception: of any kind; Triton or a C compiler is missing, or the GPU is not known to it.
    """
    import triton

    ones = torch.ones(64, 64, device=device.device)
    kept, _ = OPERATORS.dropout(ones, 0.5, torch.zeros_like(ones[:1, 0], dtype=torch.int64), 0)
    if not (torch.isin(kept, torch.tensor([0.0, 2.0], device=device.device)).all()):
        raise RuntimeError("dropout by a kernel gives neither 0 nor twice its input")
    version: str = triton.__version__
    return version
