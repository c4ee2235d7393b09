"""What the simulated GPU computes in place of CUDA kernels that a CPU does not have: attention's fused
ones, with their numbers and layouts, and a product that accumulates in another format. The project's own kernels
are in references.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from aiayn.training.gpu import layers

HALF = (torch.bfloat16, torch.float16)


def _efficient(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, compute_log_sumexp: bool,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    out, log_sumexp = _attend(q, k, v, bias, is_causal)
    return out, log_sumexp, torch.zeros((), dtype=torch.int64), torch.zeros((), dtype=torch.int64)


def _efficient_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, out: Tensor, lse: Tensor,
    seed: Tensor, offset: Tensor, dropout_p: float, mask: Sequence[bool], is_causal: bool = False,
    *, scale: float | None = None,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    return *_attend_backward(grad, q, k, v, bias, out, lse, is_causal), None


def _flash(
    q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, is_causal: bool = False,
    return_debug_mask: bool = False, *, scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    assert q.dtype in HALF
    out, log_sumexp = _attend(q, k, v, None, is_causal)
    state = torch.zeros(2, dtype=torch.int64)
    return (
        out, log_sumexp, None, None, q.shape[2], k.shape[2], state, torch.zeros(0, dtype=torch.int64),
        torch.zeros(0),
    )  # fmt: skip


def _flash_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, *rest: Any, **_: Any
) -> tuple[Tensor, ...]:
    is_causal = rest[5]
    return _attend_backward(grad, q, k, v, None, out, lse, is_causal)


def _addmm(
    sums: Tensor,
    a: Tensor,
    b: Tensor,
    dtype: torch.dtype,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor,
) -> Tensor:
    assert sums is out
    assert sums.dtype == dtype == torch.float32
    assert a.dtype == b.dtype == layers.ROUNDED
    return out.add_(a.float() @ b.float())


STAND_INS: dict[str, Callable[..., Any]] = {
    "aten.addmm.dtype_out": _addmm,
    "_scaled_dot_product_efficient_attention": _efficient,
    "_scaled_dot_product_efficient_attention_backward": _efficient_backward,
    "_scaled_dot_product_flash_attention": _flash,
    "_scaled_dot_product_flash_attention_backward": _flash_backward,
}


def _scores(q: Tensor, k: Tensor, bias: Tensor | None, is_causal: bool) -> Tensor:
    scores = q.float() @ k.float().transpose(-2, -1) / q.shape[-1] ** 0.5
    if bias is not None:
        scores = scores + bias.float()
    if is_causal:
        scores = scores.masked_fill(
            ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -torch.inf
        )
    return scores


def _attend(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, is_causal: bool
) -> tuple[Tensor, Tensor]:
    scores = _scores(q, k, bias, is_causal)
    out = (scores.softmax(-1) @ v.float()).to(q.dtype)
    # (B, T, H, V) in memory
    return out.transpose(1, 2).contiguous().transpose(1, 2), scores.logsumexp(-1)


def _attend_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, out: Tensor, lse: Tensor,
    is_causal: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    weights = (_scores(q, k, bias, is_causal) - lse[..., None]).exp()
    grad = grad.float()
    grad_scores = weights * (
        grad @ v.float().transpose(-2, -1) - (grad * out.float()).sum(-1, keepdim=True)
    )
    grad_scores = grad_scores / q.shape[-1] ** 0.5
    grads = (
        grad_scores @ k.float(),
        grad_scores.transpose(-2, -1) @ q.float(),
        weights.transpose(-2, -1) @ grad,
    )
    return tuple(g.to(q.dtype) for g in grads)  # type: ignore[return-value]


def cuda_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False,
) -> Tensor:  # fmt: skip
    """scaled_dot_product_attention as a CUDA build chooses its kernels (sdp_utils.cpp): flash without a
    mask, else the memory-efficient one, and separate products where heads have other widths than these
    take. A CPU build uses only the last on cuda.
    """
    if torch.is_autocast_enabled("cuda"):
        query, key, value = (x.to(torch.get_autocast_dtype("cuda")) for x in (query, key, value))
    d_k, d_v = query.shape[-1], value.shape[-1]
    aten = torch.ops.aten
    if attn_mask is None and query.dtype in HALF and d_k == d_v and d_k <= 256 and d_k % 8 == 0:
        out, *_ = aten._scaled_dot_product_flash_attention(query, key, value, 0.0, is_causal, False)
        return out
    alignment = 8 if query.dtype in HALF else 4
    if d_k % alignment or d_v % alignment:
        return aten._scaled_dot_product_attention_math(
            query, key, value, attn_mask, 0.0, is_causal
        )[0]
    bias = None
    if attn_mask is not None:
        bias = torch.zeros_like(attn_mask, dtype=query.dtype)
        bias = bias.masked_fill_(attn_mask.logical_not(), -torch.inf)
        padding = -bias.shape[-1] % 8
        if padding:
            bias = nn.functional.pad(bias, (0, padding))[..., : bias.shape[-1]]
        bias = bias.expand(*query.shape[:3], key.shape[2])
    needs_grad = torch.is_grad_enabled()
    out, *_ = aten._scaled_dot_product_efficient_attention(
        query, key, value, bias, needs_grad, 0.0, is_causal
    )
    return out
