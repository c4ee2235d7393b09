"""The operators of a training step as torch dispatches them: what each is for, and its kernels,
bytes and operations. An operator moves each of its tensors once; how many kernels it has is in
tests/gpu/simulated_gpu.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from benchmarks.gpu_check import PIECES
from tests.gpu.simulated_gpu import KERNELS, WITHOUT_KERNEL
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from aiayn.config import Model


@dataclass(frozen=True)
class Operator:
    """One call: kernels, bytes, operations, the format of its products, and whether it is part of a
    micro-batch, which a graph can hold."""

    kind: str
    name: str
    kernels: int
    bytes: int
    flops: int
    dtype: torch.dtype | None
    in_micro_batch: bool = False


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every operator of a model's step."""

    def __init__(self, row: Model) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.row = row
        self.operators: list[Operator] = []
        self.in_micro_batch = False
        d, d_ff = row.d_model, row.d_ff
        self.weights = {
            (d, d),
            (2 * d, d),
            (3 * d, d),
            (d, 2 * d),
            (d, 3 * d),
            (d_ff, d),
            (d, d_ff),
        }

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        out = function(*args, **kwargs)
        name = function.overloadpacket.__name__
        leaves = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        read = [*{id(leaf): leaf for leaf in leaves}.values()]
        written = [leaf for leaf in tree_leaves(out) if isinstance(leaf, Tensor)]
        tensors = [*read, *written]
        if name in WITHOUT_KERNEL or function.namespace not in ("aten", "aiayn"):
            return out
        count = flop_registry.get(function.overloadpacket)
        positional = args[:3] if name == "addmm" else args  # without the type of its output
        self.operators.append(
            Operator(
                kind=self.kind(name, [tuple(tensor.shape) for tensor in tensors]),
                name=name,
                kernels=KERNELS.get(name, 1),
                bytes=_bytes(name, read, written),
                flops=count(*positional, **kwargs, out_val=out) if count else 0,
                # addmm's first argument may have another type
                dtype=next((t.dtype for t in reversed(positional) if isinstance(t, Tensor)), None),
                in_micro_batch=self.in_micro_batch,
            )
        )
        return out

    def kind(self, name: str, shapes: Sequence[tuple[int, ...]]) -> str:
        """What an operator is for, by its name and the shapes of its tensors."""
        row = self.row
        is_product = name in ("mm", "addmm", "bmm", "addmm_")
        if any(PIECES in shape for shape in shapes):
            if is_product:
                return "products with the embedding matrix"
            if any(len(s) == 2 and s[1] == PIECES for s in shapes):
                return "softmax, loss and their gradient"
            return "embedding matrix: lookup, casts, gradients"
        if "embedding" in name:
            return "embedding matrix: lookup, casts, gradients"
        if "scaled_dot" in name:
            return "attention"
        if is_product:
            return "other products"
        if "adam" in name or all(len(s) == 1 and s[0] > 1e7 for s in shapes):
            return "Adam, zeroing"
        if any(shape in self.weights for shape in shapes):
            return "weights: casts, joining, sums of gradients"
        if any(len(s) >= 2 and s[-1] == row.d_ff for s in shapes):
            return "relu and gradients of biases"
        return "residual, dropout, normalization, casts, masks"


def _bytes(name: str, read: Sequence[Tensor], written: Sequence[Tensor]) -> int:
    """That an operator moves. A lookup reads what it writes."""
    if name in ("zero_", "fill_", "zeros", "zeros_like", "full", "new_zeros", "ones", "full_like"):
        return sum(map(_size, written))
    if name in ("embedding", "gather"):
        return 2 * sum(map(_size, written)) + _size(read[1])
    if name == "copy_":
        return _size(read[1]) + _size(written[0])
    if name == "smoothed_cross_entropy_":  # reads the logits twice and writes them
        return 3 * _size(read[0]) + _size(read[1]) + _size(written[0])
    if name == "residual_norm_backward":  # writes and reads sums of parts of the rows
        width = read[-2].shape[-1]
        sums = 2 * 4 * 2 * width * min(written[0].numel() // width, 512)
        return sum(map(_size, read)) + sum(map(_size, written)) + sums
    if name == "_fused_adam_":  # reads four vectors and writes three of them
        return sum(map(_size, read)) * 7 // 4
    return sum(map(_size, read)) + sum(map(_size, written))


def _size(tensor: Tensor) -> int:
    """Bytes; a dimension that is repeated is read once."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return math.prod(size for size, stride in sizes if stride) * tensor.element_size()
