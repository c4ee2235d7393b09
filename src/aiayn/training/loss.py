"""Label-smoothed cross-entropy over a shared embedding (sections 3.4 and 5.4)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from aiayn.model.device import dtype_of_products
from aiayn.training.gpu import layers

CHUNK_BYTES = 8 << 20  # of logits: they stay in a CPU's cache; a GPU takes larger ones
CHUNK_BYTES_GPU = 1 << 30


def plain_smoothed_cross_entropy(logits_NP: Tensor, targets_N: Tensor, *, eps_ls: float) -> Tensor:
    """-sum over the pieces of q log p, for each position, shape (N,), where p = softmax(logits) and
    q = (1 - eps_ls) on the target piece + eps_ls / P on each of the P pieces.

    The formula, literally. `smoothed_cross_entropy`, which training uses, computes the same in one
    pass over the vocabulary (a test compares them).

    Paper: section 5.4, by way of its reference 36, Szegedy et al. 2015.
    """
    pieces = logits_NP.shape[1]
    smoothed_NP = functional.one_hot(targets_N, pieces) * (1 - eps_ls) + eps_ls / pieces
    return -(smoothed_NP * logits_NP.log_softmax(dim=1)).sum(dim=1)


def smoothed_cross_entropy(
    states_ND: Tensor, embedding_PD: Tensor, targets_N: Tensor, *, eps_ls: float, pad: int
) -> tuple[Tensor, Tensor]:
    """Summed loss over real tokens, without storing all logits.

    The target distribution is (1 - eps_ls) on the target piece plus eps_ls / P on each of the P
    pieces (Szegedy et al. 2015, the paper's reference 36); docs/deviations.md has the others.

    Args:
        states_ND: the decoder's output, float.
        embedding_PD: the matrix whose transpose gives the logits.
        targets_N: int64; positions equal to `pad` do not count.
        eps_ls: mass taken from the target piece, in [0, 1).
    Returns:
        The smoothed loss (differentiable) and the plain negative log-likelihood (not
        differentiable), both float32 sums in nats.
    Paper: section 5.4. Deviation: none.
    """
    if layers.are_in_use(embedding_PD):
        return layers.smoothed_cross_entropy(
            states_ND, embedding_PD, targets_N, eps_ls=eps_ls, pad=pad
        )
    # determined here: inside a Function gradients are disabled, but tensors still require them
    needs_grad = torch.is_grad_enabled() and (states_ND.requires_grad or embedding_PD.requires_grad)
    loss, nll = _SmoothedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        states_ND, embedding_PD, targets_N, eps_ls, pad, needs_grad
    )
    return loss, nll


class _SmoothedCrossEntropy(torch.autograd.Function):
    """Logits, loss and gradients chunk by chunk, in one pass: the gradient has a closed form,
    softmax - target distribution, so only it is kept for the backward pass.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states_ND: Tensor,
        embedding_PD: Tensor,
        targets_N: Tensor,
        eps_ls: float,
        pad: int,
        needs_grad: bool,
    ) -> tuple[Tensor, Tensor]:
        device = states_ND.device.type
        weight_PD = embedding_PD.to(dtype_of_products(embedding_PD))
        states_ND = states_ND.to(weight_PD.dtype)
        is_real_N1 = (targets_N != pad)[:, None]
        real_ND = states_ND * is_real_N1
        # logits are linear in the embedding, so the uniform part of the target distribution needs
        # no pass over the vocabulary: a position's mean logit is the logit of the mean piece
        mean_D = embedding_PD.mean(dim=0)
        vocabulary = len(weight_PD)
        budget = CHUNK_BYTES if device == "cpu" else CHUNK_BYTES_GPU
        rows = max(1, budget // (4 * vocabulary))
        grad_states_ND = torch.empty_like(states_ND) if needs_grad else None
        grad_embedding_PD = torch.zeros_like(embedding_PD) if needs_grad else None
        loss = states_ND.new_zeros((), dtype=torch.float32)
        nll = states_ND.new_zeros((), dtype=torch.float32)
        for begin in range(0, len(states_ND), rows):
            chunk = slice(begin, begin + rows)
            targets, is_real = targets_N[chunk, None], is_real_N1[chunk]
            logits = (states_ND[chunk] @ weight_PD.t()).float()
            p = logits.softmax(dim=1)
            # -log p of the target, whose p may be 0, by way of the likeliest piece, whose p is not
            target_logits = logits.gather(1, targets)
            nll_chunk = logits.amax(1, keepdim=True) - p.amax(1, keepdim=True).log() - target_logits
            above_mean = target_logits - (states_ND[chunk] * mean_D).sum(dim=1, keepdim=True)
            nll += (nll_chunk * is_real).sum()
            loss += ((nll_chunk + eps_ls * above_mean) * is_real).sum()
            if grad_states_ND is None or grad_embedding_PD is None:
                continue
            grad = _minus_target(p, targets, 1 - eps_ls, weight_PD.dtype)
            torch.mm(grad, weight_PD, out=grad_states_ND[chunk])
            if weight_PD.dtype == embedding_PD.dtype:
                grad_embedding_PD.addmm_(grad.t(), real_ND[chunk])
            else:
                grad_embedding_PD += grad.t() @ real_ND[chunk]
        if grad_states_ND is not None and grad_embedding_PD is not None:
            grad_states_ND.sub_(mean_D, alpha=eps_ls).mul_(is_real_N1)
            grad_embedding_PD.sub_(real_ND.float().sum(dim=0), alpha=eps_ls / vocabulary)
        ctx.save_for_backward(grad_states_ND, grad_embedding_PD)
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        grad_states_ND, grad_embedding_PD = ctx.saved_tensors
        return grad_states_ND * grad_loss, grad_embedding_PD * grad_loss, *(None,) * 4


def _minus_target(p_NP: Tensor, targets_N1: Tensor, mass: float, dtype: torch.dtype) -> Tensor:
    """The probabilities less `mass` at each row's target, as `dtype`; may overwrite `p_NP`."""
    if p_NP.is_cpu:
        return p_NP.scatter_add_(1, targets_N1, p_NP.new_full(targets_N1.shape, -mass)).to(dtype)
    # on a GPU a deterministic scatter sorts all elements and waits for a copy to the host
    is_target_NP = targets_N1 == torch.arange(p_NP.shape[1], device=p_NP.device)
    return torch.add(p_NP, is_target_NP, alpha=-mass, out=torch.empty_like(p_NP, dtype=dtype))
