"""Triton kernels. A row is a position of a batch: of D numbers of the model, or of P logits.

`rounded` is a bfloat16 copy of a float32 tensor, for the products that follow. Random numbers are
Philox's (Salmon et al. 2011), a function of the stream's number, the module's (`site`), the row and
the column, so a backward pass draws the same numbers as the forward pass. All sums have an order
that the sizes determine.

No `from __future__ import annotations` here: Triton reads the annotations. For an integer that is 1
or a multiple of 16 it recompiles a kernel, except for those listed in its decorator.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

LOGITS = 4096  # of a row, at a time
PROGRAMS = 512  # of a backward pass at most; each sums the norm's gradients over some rows
ROWS, COLUMNS = 256, 4  # of these sums, at a time


@triton.jit(do_not_specialize=["pad", "N"])
def _smoothed_cross_entropy(
    logits, targets, losses, eps_ls, pad, N, P, WRITES: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    begin = logits + row.to(tl.int64) * P
    target = tl.load(targets + row)
    target_logit = tl.load(begin + target).to(tl.float32)  # before a gradient takes its place
    columns = tl.arange(0, BLOCK)
    # sum of exponentials below the maximum so far, and sum, for each of BLOCK columns
    highest = -1e30
    exponentials = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, P, BLOCK):
        at = first + columns
        x = tl.load(begin + at, mask=at < P, other=-float("inf")).to(tl.float32)
        total += tl.where(at < P, x, 0.0)
        higher = tl.maximum(highest, tl.max(x, axis=0))
        exponentials = exponentials * tl.exp(highest - higher) + tl.exp(x - higher)
        highest = higher
    log_sum = highest + tl.log(tl.sum(exponentials, axis=0))
    nll = log_sum - target_logit
    smoothed = nll + eps_ls * (target_logit - tl.sum(total, axis=0) / P)
    is_real = target != pad
    tl.store(losses + row, tl.where(is_real, smoothed, 0.0))
    tl.store(losses + N + row, tl.where(is_real, nll, 0.0))
    if WRITES:
        for first in range(0, P, BLOCK):
            at = first + columns
            x = tl.load(begin + at, mask=at < P, other=-float("inf")).to(tl.float32)
            gradient = tl.exp(x - log_sum) - eps_ls / P - tl.where(at == target, 1.0 - eps_ls, 0.0)
            gradient = tl.where(is_real, gradient, 0.0)
            tl.store(begin + at, gradient.to(logits.dtype.element_ty), mask=at < P)


def smoothed_cross_entropy_(
    logits_NP: Tensor, targets_N: Tensor, eps_ls: float, pad: int, writes_gradient: bool
) -> Tensor:
    """Smoothed loss and negative log-likelihood of each row, (2, N) float32; 0 where the target is
    `pad`. If `writes_gradient`, the logits become the gradient of the smoothed losses' sum.
    """
    N, P = logits_NP.shape
    losses = logits_NP.new_empty(2, N, dtype=torch.float32)
    _smoothed_cross_entropy[(N,)](
        logits_NP, targets_N, losses, eps_ls, pad, N, P,
        WRITES=writes_gradient, BLOCK=min(LOGITS, triton.next_power_of_2(P)), num_warps=8,
    )  # fmt: skip
    return losses


@triton.jit
def _scaled_mask(stream, site, row, p, BLOCK: tl.constexpr):
    """0 with probability p, 1 / (1 - p) otherwise. Four numbers come from one counter."""
    counters = row * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    zeros = counters * 0
    a, b, c, d = tl.philox(tl.load(stream), counters, zeros + site, zeros, zeros)
    bits = tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), (BLOCK,))
    uniform = (bits >> 8).to(tl.float32) * (1.0 / 16777216.0)
    return tl.where(uniform >= p, 1.0 / (1.0 - p), 0.0)


@triton.jit(do_not_specialize=["site"])
def _residual_norm(
    x, y, weight, bias, out, rounded, eps, p, stream, site, D,
    DROPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    here = columns < D
    at = row * D + columns
    added = tl.load(y + at, mask=here, other=0.0).to(tl.float32)
    if DROPS:
        added *= _scaled_mask(stream, site, row, p, BLOCK)
    z = tl.load(x + at, mask=here, other=0.0) + added
    centred = tl.where(here, z - tl.sum(z, axis=0) / D, 0.0)
    normal = centred / tl.sqrt(tl.sum(centred * centred, axis=0) / D + eps)
    w = tl.load(weight + columns, mask=here, other=0.0)
    b = tl.load(bias + columns, mask=here, other=0.0)
    result = normal * w + b
    tl.store(out + at, result, mask=here)
    tl.store(rounded + at, result.to(tl.bfloat16), mask=here)


def residual_norm(
    x: Tensor, y: Tensor, weight_D: Tensor, bias_D: Tensor,
    eps: float, p: float, stream_1: Tensor, site: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """LayerNorm(x + Dropout(y)), float32 as x, and the same rounded; y is float32 or bfloat16."""
    x, y = x.contiguous(), y.contiguous()
    D = x.shape[-1]
    out, rounded = torch.empty_like(x), torch.empty_like(x, dtype=torch.bfloat16)
    _residual_norm[(x.numel() // D,)](
        x, y, weight_D, bias_D, out, rounded, eps, p, stream_1, site, D,
        DROPS=p > 0, BLOCK=_block(D), num_warps=4,
    )  # fmt: skip
    return out, rounded


@triton.jit
def _gradient_of_both(
    grad_out, grad_rounded, at, here, HAS_OUT: tl.constexpr, HAS_ROUNDED: tl.constexpr
):
    gradient = tl.zeros(at.shape, tl.float32)
    if HAS_OUT:
        gradient += tl.load(grad_out + at, mask=here, other=0.0)
    if HAS_ROUNDED:
        gradient += tl.load(grad_rounded + at, mask=here, other=0.0).to(tl.float32)
    return gradient


@triton.jit(do_not_specialize=["site", "N"])
def _residual_norm_backward(
    grad_out, grad_rounded, x, y, weight, grad_x, grad_y, sums, eps, p, stream, site, N, D,
    HAS_OUT: tl.constexpr, HAS_ROUNDED: tl.constexpr, DROPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    columns = tl.arange(0, BLOCK)
    here = columns < D
    w = tl.load(weight + columns, mask=here, other=0.0)
    sum_weight = tl.zeros((BLOCK,), tl.float32)
    sum_bias = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0), N, tl.num_programs(0)):
        at = row * D + columns
        gradient = _gradient_of_both(grad_out, grad_rounded, at, here, HAS_OUT, HAS_ROUNDED)
        added = tl.load(y + at, mask=here, other=0.0).to(tl.float32)
        if DROPS:
            mask = _scaled_mask(stream, site, row, p, BLOCK)
            added *= mask
        z = tl.load(x + at, mask=here, other=0.0) + added
        centred = tl.where(here, z - tl.sum(z, axis=0) / D, 0.0)
        reciprocal = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / D + eps)
        normal = centred * reciprocal
        sum_weight += gradient * normal
        sum_bias += gradient
        gradient *= w
        along = tl.sum(gradient * normal, axis=0) / D
        result = (gradient - tl.sum(gradient, axis=0) / D - normal * along) * reciprocal
        tl.store(grad_x + at, result, mask=here)
        if DROPS:
            result *= mask
        tl.store(grad_y + at, result.to(grad_y.dtype.element_ty), mask=here)
    part = sums + tl.program_id(0) * 2 * D + columns
    tl.store(part, sum_weight, mask=here)
    tl.store(part + D, sum_bias, mask=here)


@triton.jit(do_not_specialize=["rows"])
def _add_columns(sums, grad_weight, grad_bias, rows, D, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    is_bias = tl.program_id(1)
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    here = columns < D
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, rows, ROWS):
        numbers = first + tl.arange(0, ROWS)
        at = (numbers * 2 * D + is_bias * D)[:, None] + columns[None, :]
        total += tl.load(sums + at, mask=(numbers < rows)[:, None] & here[None, :], other=0.0)
    added = tl.sum(total, axis=0)
    if is_bias:
        tl.store(grad_bias + columns, tl.load(grad_bias + columns, mask=here) + added, mask=here)
    else:
        into = grad_weight + columns
        tl.store(into, tl.load(into, mask=here) + added, mask=here)


def residual_norm_backward(
    grad_out: Tensor | None, grad_rounded: Tensor | None, x: Tensor, y: Tensor, weight_D: Tensor,
    grad_weight_D: Tensor, grad_bias_D: Tensor, eps: float, p: float, stream_1: Tensor, site: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Gradients of x and y; those of weight and bias are added to what is in `grad_..._D`."""
    x, y = x.contiguous(), y.contiguous()
    D = x.shape[-1]
    N = x.numel() // D
    programs = min(N, PROGRAMS)
    grad_x, grad_y = torch.empty_like(x), torch.empty_like(y)
    sums = x.new_empty(programs, 2, D)
    _residual_norm_backward[(programs,)](
        _or(grad_out, x), _or(grad_rounded, x), x, y, weight_D, grad_x, grad_y, sums,
        eps, p, stream_1, site, N, D,
        HAS_OUT=grad_out is not None, HAS_ROUNDED=grad_rounded is not None, DROPS=p > 0,
        BLOCK=_block(D), num_warps=4,
    )  # fmt: skip
    _add_columns[(triton.cdiv(D, COLUMNS), 2)](
        sums, grad_weight_D, grad_bias_D, programs, D, ROWS=ROWS, COLUMNS=COLUMNS
    )
    return grad_x, grad_y


@triton.jit(do_not_specialize=["site"])
def _dropout(x, out, rounded, p, stream, site, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    here = columns < D
    at = row * D + columns
    result = tl.load(x + at, mask=here) * _scaled_mask(stream, site, row, p, BLOCK)
    tl.store(out + at, result, mask=here)
    tl.store(rounded + at, result.to(tl.bfloat16), mask=here)


def dropout(x: Tensor, p: float, stream_1: Tensor, site: int) -> tuple[Tensor, Tensor]:
    """Dropout(x) and the same rounded; x float32."""
    x = x.contiguous()
    D = x.shape[-1]
    out, rounded = torch.empty_like(x), torch.empty_like(x, dtype=torch.bfloat16)
    _dropout[(x.numel() // D,)](x, out, rounded, p, stream_1, site, D, BLOCK=_block(D), num_warps=4)
    return out, rounded


@triton.jit(do_not_specialize=["site"])
def _dropout_backward(
    grad_out, grad_rounded, grad_x, p, stream, site, D,
    HAS_OUT: tl.constexpr, HAS_ROUNDED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    here = columns < D
    at = row * D + columns
    gradient = _gradient_of_both(grad_out, grad_rounded, at, here, HAS_OUT, HAS_ROUNDED)
    tl.store(grad_x + at, gradient * _scaled_mask(stream, site, row, p, BLOCK), mask=here)


def dropout_backward(
    grad_out: Tensor | None, grad_rounded: Tensor | None, p: float, stream_1: Tensor, site: int
) -> Tensor:
    """The gradient of x; one of the others may be missing."""
    known = grad_rounded if grad_out is None else grad_out
    assert known is not None
    grad_x = torch.empty_like(known, dtype=torch.float32, memory_format=torch.contiguous_format)
    D = grad_x.shape[-1]
    _dropout_backward[(grad_x.numel() // D,)](
        _or(grad_out, grad_x), _or(grad_rounded, grad_x), grad_x, p, stream_1, site, D,
        HAS_OUT=grad_out is not None, HAS_ROUNDED=grad_rounded is not None,
        BLOCK=_block(D), num_warps=4,
    )  # fmt: skip
    return grad_x


def _block(D: int) -> int:
    """Columns of a program: a power of two, of which four share a counter."""
    return max(4, triton.next_power_of_2(D))


def _or(tensor: Tensor | None, unread: Tensor) -> Tensor:
    """`tensor`, or one that a kernel takes in its place and does not read."""
    return unread if tensor is None else tensor.contiguous()
