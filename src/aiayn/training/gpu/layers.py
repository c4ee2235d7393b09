"""Parts of the model and the loss by the kernels of this folder, with bfloat16 products.

`Kernels` changes the classes of a model's modules; parameters, their names and what a module
computes stay. Beside the tensors that they belong to are kept:

- `rounded`, a bfloat16 copy: of a parameter, a view of one vector that is cast once a step; of a
  module's output, written by the kernel that computes it;
- gradients of matrices, added to the parameters' `.grad` by the products themselves, in float32,
  and those of norms, by their kernel. Autograd sees neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from aiayn.model.attention import MultiHeadAttention
from aiayn.model.dropout import Dropout
from aiayn.model.layers import Residual, Sublayer
from aiayn.model.neighbourhood import NeighbourhoodAttention
from aiayn.training.flat import FlatParameters
from aiayn.training.gpu.operators import OPERATORS

ROUNDED = torch.bfloat16  # format of products


class Kernels:
    """A model whose modules use the kernels, on the model's device.

    Attributes:
        stream_1: number of the stream of random numbers that dropout draws from, int64.
        target_tokens: number of the step's, over all its micro-batches, float32.
    """

    def __init__(self, model: nn.Module, flat: FlatParameters) -> None:
        self._values = flat.values.detach()
        self._rounded = torch.empty_like(self._values, dtype=ROUNDED)
        begin = 0
        for parameter in model.parameters():  # in their order in `flat`
            end = begin + parameter.numel()
            view = self._rounded[begin:end].view_as(parameter)
            parameter.rounded = view  # type: ignore[attr-defined]
            begin = end
        self.stream_1 = torch.zeros(1, dtype=torch.int64, device=self._values.device)
        self.target_tokens = torch.zeros((), device=self._values.device)
        # what kernels read besides parameters, buffers and a micro-batch; stays where it is
        self.tensors = (self._rounded, self.stream_1, self.target_tokens)
        for site, module in enumerate(model.modules()):
            if type(module) in WITH_KERNELS:
                module.__class__ = WITH_KERNELS[type(module)]
                module.site, module.stream_1 = site, self.stream_1  # type: ignore[assignment]

    def round_weights(self) -> None:
        """To be called when the weights have changed."""
        self._rounded.copy_(self._values)

    def seed(self, number: int) -> None:
        """Begin another stream of random numbers."""
        self.stream_1.fill_(number)

    def count(self, target_tokens: int) -> Tensor:
        """The number of a step's target tokens as a tensor, always the same one."""
        return self.target_tokens.fill_(target_tokens)


def are_in_use(parameter: Tensor) -> bool:
    """Whether a parameter's model uses the kernels."""
    return hasattr(parameter, "rounded")


def rounded(x: Tensor) -> Tensor:
    """The rounded copy stored with a tensor or, if it has none, a new one."""
    found = getattr(x, "rounded", None)
    return x.to(ROUNDED) if found is None else found


def _with_copy(out: Tensor, copy: Tensor) -> Tensor:
    out.rounded = copy  # type: ignore[attr-defined]
    return out


def adjacent(tensors: Sequence[Tensor]) -> Tensor:
    """Matrices (n, D) that follow each other in memory as one, without a copy."""
    first = tensors[0]
    for one, other in pairwise(tensors):
        assert one.storage_offset() + one.numel() == other.storage_offset()
    return first.as_strided((sum(map(len, tensors)), first.shape[1]), first.stride())


def _add_product(sums: Tensor, a: Tensor, b: Tensor) -> None:
    """sums += a @ b, accumulated in float32; a and b bfloat16."""
    torch.ops.aten.addmm.dtype_out(sums, a, b, torch.float32, out=sums)


class _Product(torch.autograd.Function):
    """x W^T + b in bfloat16; the gradients of W and b go where they are summed up."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Sequence[Tensor], bias: Tensor | None) -> Tensor:
        weight = adjacent([rounded(w) for w in weights])
        ctx.save_for_backward(x, weight)
        ctx.weights, ctx.bias = weights, bias
        return functional.linear(x, weight, None if bias is None else rounded(bias))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        rows = grad.flatten(0, -2)
        _add_product(adjacent([_grad(w) for w in ctx.weights]), rows.t(), x.flatten(0, -2))
        _complete(*ctx.weights)
        if ctx.bias is not None:
            _grad(ctx.bias).add_(rows.sum(dim=0, dtype=torch.float32))
            _complete(ctx.bias)
        return grad @ weight, None, None


def _product(x: Tensor, weights: Sequence[Tensor], bias: Tensor | None) -> Tensor:
    """Of matrices that follow each other in the vector of all parameters."""
    out: Tensor = _Product.apply(rounded(x), weights, bias)  # type: ignore[no-untyped-call]
    return out


def _grad(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def _complete(*parameters: Tensor) -> None:
    """Tell the buckets, if there are any, that this backward pass has added its gradients."""
    for parameter in parameters:
        completed: Callable[[], None] | None = getattr(parameter, "completed", None)
        if completed is not None:
            completed()


class FlatLinear(nn.Linear):
    """nn.Linear."""

    def forward(self, x: Tensor) -> Tensor:
        return _product(x, [self.weight], self.bias)


class FlatAttention(MultiHeadAttention):
    """Its projections of one input are one product, by a view of their matrices."""

    def _project(self, x_BTD: Tensor, *projections: nn.Linear) -> list[Tensor]:
        out = _product(x_BTD, [projection.weight for projection in projections], None)
        sizes = [projection.out_features for projection in projections]
        # a split into one part would copy its gradient
        parts = out.split_with_sizes(sizes, dim=2) if len(sizes) > 1 else [out]
        return [p.view(*p.shape[:2], self.h, p.shape[2] // self.h).transpose(1, 2) for p in parts]


class FlatNeighbourhoodAttention(FlatAttention, NeighbourhoodAttention):
    """The same of attention within a neighbourhood."""


class _ResidualNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, norm: nn.LayerNorm, p: float, stream: Tensor, site: int
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(x, y)
        ctx.set_materialize_grads(False)
        ctx.norm, ctx.dropout = norm, (p, stream, site)
        out: tuple[Tensor, Tensor] = OPERATORS.residual_norm(
            x, y, norm.weight, norm.bias, norm.eps, p, stream, site
        )
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        norm = ctx.norm
        grad_x, grad_y = OPERATORS.residual_norm_backward(
            *grads, *ctx.saved_tensors, norm.weight, norm.weight.grad, norm.bias.grad, norm.eps,
            *ctx.dropout,
        )  # fmt: skip
        _complete(norm.weight, norm.bias)
        return grad_x, grad_y, None, None, None, None


class FusedResidual(Residual):
    """Residual: sum, dropout, normalization and rounding in one kernel, two backward."""

    site: int
    stream_1: Tensor

    def forward(self, x_BTD: Tensor, sublayer: Sublayer) -> Tensor:
        p = self.dropout.p if self.training else 0.0
        out, copy = _ResidualNorm.apply(  # type: ignore[no-untyped-call]
            x_BTD, sublayer(x_BTD), self.norm, p, self.stream_1, self.site
        )
        return _with_copy(out, copy)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float, stream: Tensor, site: int) -> tuple[Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        ctx.dropout = p, stream, site
        out: tuple[Tensor, Tensor] = OPERATORS.dropout(x, p, stream, site)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        return OPERATORS.dropout_backward(*grads, *ctx.dropout), None, None, None


class FusedDropout(Dropout):
    """Dropout of float32 numbers, from a separate stream, and rounding."""

    site: int
    stream_1: Tensor

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        out, copy = _Dropout.apply(  # type: ignore[no-untyped-call]
            x, self.p, self.stream_1, self.site
        )
        return _with_copy(out, copy)


WITH_KERNELS: dict[type[nn.Module], type[nn.Module]] = {
    nn.Linear: FlatLinear,
    MultiHeadAttention: FlatAttention,
    NeighbourhoodAttention: FlatNeighbourhoodAttention,
    Residual: FusedResidual,
    Dropout: FusedDropout,
}


def smoothed_cross_entropy(
    states_ND: Tensor, embedding_PD: Tensor, targets_N: Tensor, *, eps_ls: float, pad: int
) -> tuple[Tensor, Tensor]:
    """As training/loss.py's, with all logits in memory, in bfloat16."""
    needs_grad = torch.is_grad_enabled() and states_ND.requires_grad
    loss, nll = _SmoothedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        rounded(states_ND), embedding_PD, targets_N, eps_ls, pad, needs_grad
    )
    return loss, nll


class _SmoothedCrossEntropy(torch.autograd.Function):
    """The logits' gradient overwrites the logits; its products follow in the backward pass."""

    @staticmethod
    def forward(
        ctx: Any, states_ND: Tensor, embedding_PD: Tensor, targets_N: Tensor, eps_ls: float,
        pad: int, needs_grad: bool,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        logits_NP = functional.linear(states_ND, rounded(embedding_PD))
        losses = OPERATORS.smoothed_cross_entropy_(logits_NP, targets_N, eps_ls, pad, needs_grad)
        loss, nll = losses.sum(dim=1).unbind()
        ctx.save_for_backward(states_ND, logits_NP)
        ctx.embedding_PD = embedding_PD
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        states_ND, gradient_NP = ctx.saved_tensors
        _add_product(ctx.embedding_PD.grad, gradient_NP.t(), states_ND * grad_loss)
        return (gradient_NP @ rounded(ctx.embedding_PD)) * grad_loss, *(None,) * 5
