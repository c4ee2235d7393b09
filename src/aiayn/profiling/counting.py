"""FLOPs of a module's matrix products, counted twice: by fvcore and by torch.

A multiply-add is two FLOPs, as in the paper and in torch; fvcore counts it as one, so its figures
are doubled here. Additions, activations, softmax and normalisation count as zero in both
(docs/decisions/counting-flops.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from fvcore.nn.flop_count import FlopCountAnalysis
from fvcore.nn.jit_handles import get_shape
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from aiayn.errors import ProfileError

# Operators of the traced graph without a matrix product. An operator that is neither listed here,
# nor known to fvcore, nor handled below is an error, because it might contain one.
WITHOUT_PRODUCTS = frozenset(
    f"aten::{name}"
    for name in (
        # element-wise, or reductions over one dimension
        "add", "sub", "rsub", "sum", "mul", "div", "pow", "log", "tanh", "sigmoid", "relu", "relu_",
        "softmax", "abs", "neg", "ne", "gt", "le", "lt", "__or__", "bitwise_not", "masked_fill",
        "clamp_",
        # shapes, copies and constants
        "embedding", "pad", "unfold", "unbind", "clone", "fill_", "copy_", "lift_fresh", "detach",
        "zeros", "ones", "new_ones", "zeros_like", "tril", "slice", "select", "arange", "cat",
        "stack", "squeeze", "unsqueeze", "view", "expand", "transpose", "flatten",
        "split_with_sizes",
        "index", "size", "ScalarImplicit", "Int", "to", "contiguous", "reshape",
    )
)  # fmt: skip


def count_with_fvcore(module: nn.Module, *inputs: Tensor) -> dict[str, int]:
    """FLOPs of the forward pass by operator.

    Raises:
        ProfileError: the module uses an operator that cannot be counted.
    """
    analysis = FlopCountAnalysis(module, inputs)
    analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    analysis.set_op_handle("aten::layer_norm", _no_product)
    analysis.set_op_handle("aten::scaled_dot_product_attention", _attention)
    for cell in ("lstm", "gru"):
        analysis.set_op_handle(f"aten::{cell}", _recurrent)
    counts = analysis.by_operator()
    unknown = sorted(set(analysis.unsupported_ops()) - WITHOUT_PRODUCTS)
    if unknown:
        raise ProfileError(
            f"{type(module).__name__} uses {', '.join(unknown)}, which cannot be counted. Add a "
            "handler in src/aiayn/profiling/counting.py, or list it in WITHOUT_PRODUCTS."
        )
    return {name: 2 * int(count) for name, count in sorted(counts.items())}


def _no_product(inputs: Sequence[Any], outputs: Sequence[Any]) -> Counter[str]:
    """For layer norm, where fvcore's own handler counts five operations per element."""
    return Counter()


def _attention(inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
    """Multiply-adds of Q K^T and of the weights times V; masked scores are computed too."""
    queries, keys, values = (_shape(value) for value in inputs[:3])
    return math.prod(queries[:-1]) * keys[-2] * (queries[-1] + values[-1])


def _recurrent(inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
    """Multiply-adds of every weight matrix, once for each position of each sentence."""
    positions = math.prod(_shape(inputs[0])[:-1])
    weights = [_shape(weight) for weight in inputs[2].node().inputs()]
    return positions * sum(math.prod(shape) for shape in weights if len(shape) == 2)


def _shape(value: Any) -> Sequence[int]:
    shape = get_shape(value)
    if shape is None:
        raise ProfileError(f"{value} in the traced graph has no known shape: it cannot be counted.")
    return shape


def count_with_torch(forward: Callable[[], Tensor], *, backward: bool = False) -> tuple[int, int]:
    """FLOPs of `forward`, and of `forward` plus its backward pass (0 unless `backward`).

    On a CPU, attention and a single-precision LSTM must be on the meta device: torch's counter sees
    nothing inside their fused CPU kernels.
    """
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        result = forward()
        forwards = int(counter.get_total_flops())
        if not backward:
            return forwards, 0
        result.sum().backward()  # type: ignore[no-untyped-call]
        return forwards, int(counter.get_total_flops())
