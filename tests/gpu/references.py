"""What the kernels of training/gpu compute, in torch and NumPy: references for their tests, and their
replacements on a simulated GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, layer_norm, one_hot

from aiayn.training.gpu import layers
from aiayn.training.gpu.operators import LIBRARY

U64 = npt.NDArray[np.uint64]
LOW = np.uint64(0xFFFFFFFF)


def philox(key: int, counters: npt.ArrayLike) -> U64:
    """Philox4x32-10 of counters (..., 4), as Salmon et al. define it (Random123), 64-bit `key`."""
    c = [np.asarray(counters, np.uint64)[..., i] for i in range(4)]
    k = [np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [b >> np.uint64(32) ^ c[1] ^ k[0], b & LOW, a >> np.uint64(32) ^ c[3] ^ k[1], a & LOW]
        k = [k[0] + np.uint64(0x9E3779B9) & LOW, k[1] + np.uint64(0xBB67AE85) & LOW]
    return np.stack(c, axis=-1)


def scaled_mask(x: Tensor, p: float, stream: Tensor, site: int) -> Tensor:
    """0 with probability p, else 1 / (1 - p), as x in shape."""
    if p == 0 or x.is_meta:
        return torch.ones_like(x, dtype=torch.float32)
    D = x.shape[-1]
    drawn = max(4, 1 << (D - 1).bit_length()) // 4
    counters = np.zeros((x.numel() // D * drawn, 4), np.uint64)
    counters[:, 0] = np.arange(len(counters))
    counters[:, 1] = site
    bits = philox(int(stream), counters).reshape(-1, 4 * drawn)[:, :D]
    kept = (bits >> np.uint64(8)).astype(np.float32) / np.float32(1 << 24) >= np.float32(p)
    return torch.from_numpy(kept).view(x.shape) / (1 - p)


def smoothed_cross_entropy_(
    logits: Tensor, targets: Tensor, eps_ls: float, pad: int, writes_gradient: bool
) -> Tensor:
    x = logits.float()
    losses = [
        cross_entropy(x, targets, ignore_index=pad, label_smoothing=eps, reduction="none")
        for eps in (eps_ls, 0.0)
    ]
    if writes_gradient:
        pieces = x.shape[1]
        expected = one_hot(targets, pieces) * (1 - eps_ls) + eps_ls / pieces
        logits.copy_((x.softmax(dim=1) - expected) * (targets != pad)[:, None])
    return torch.stack(losses)


def residual_norm(
    x: Tensor, y: Tensor, w: Tensor, b: Tensor, eps: float, p: float, stream: Tensor, site: int
) -> tuple[Tensor, Tensor]:
    out = layer_norm(x + y.float() * scaled_mask(x, p, stream, site), w.shape, w, b, eps)
    return out, out.to(layers.ROUNDED)


def _sum(grad_out: Tensor | None, grad_rounded: Tensor | None) -> Tensor:
    """The sum of the gradients of an output and its rounded copy; at least one is given."""
    gradients = [grad.float() for grad in (grad_out, grad_rounded) if grad is not None]
    return torch.stack(gradients).sum(dim=0)


def residual_norm_backward(
    grad_out: Tensor | None, grad_rounded: Tensor | None, x: Tensor, y: Tensor, w: Tensor,
    grad_w: Tensor, grad_b: Tensor, eps: float, p: float, stream: Tensor, site: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    mask = scaled_mask(x, p, stream, site)
    z = x + y.float() * mask
    _, mean, rstd = torch.native_layer_norm(z, w.shape, w, None, eps)
    grad_z, added_w, added_b = torch.ops.aten.native_layer_norm_backward(
        _sum(grad_out, grad_rounded), z, w.shape, mean, rstd, w, grad_b, [True, True, True]
    )
    grad_w += added_w
    grad_b += added_b
    return grad_z, (grad_z * mask).to(y.dtype)


def dropout(x: Tensor, p: float, stream: Tensor, site: int) -> tuple[Tensor, Tensor]:
    out = (x * scaled_mask(x, p, stream, site)).to(x.dtype)
    return out, out.to(layers.ROUNDED)


def dropout_backward(
    grad_out: Tensor | None, grad_rounded: Tensor | None, p: float, stream: Tensor, site: int
) -> Tensor:
    grad = _sum(grad_out, grad_rounded)
    return grad * scaled_mask(grad, p, stream, site)


REFERENCES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        smoothed_cross_entropy_, residual_norm, residual_norm_backward, dropout, dropout_backward,
    )
}  # fmt: skip
for name, function in REFERENCES.items():
    for key in ("CPU", "Meta"):
        LIBRARY.impl(name, function, key)
