"""The kernels as operators of torch (torch.ops.aiayn), which tools can see and count; Triton is
imported when the first one runs on a GPU. What they compute is in kernels.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.library import Library

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
LIBRARY = Library("aiayn", "DEF")


def _kernel(name: str) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        from aiayn.training.gpu import kernels

        return getattr(kernels, name)(*arguments)

    return run


for schema in SCHEMAS:
    name = LIBRARY.define(schema)
    LIBRARY.impl(name, _kernel(name), "CUDA")
