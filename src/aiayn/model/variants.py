"""Attention that the paper discusses or that explanations of it compare with: beyond the paper.

Shape suffixes as in model/transformer.py.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aiayn.model.attention import KeysValues, MultiHeadAttention


class UnscaledAttention(MultiHeadAttention):
    """softmax(Q K^T) V: equation 1 without the division by sqrt(d_k) (section 3.2.1)."""

    def heads(
        self,
        queries_BHTK: Tensor,
        attended: KeysValues,
        may_attend: Tensor | None,
        *,
        is_causal: bool,
    ) -> Tensor:
        """(B, H, T, V), by the formula itself."""
        mask = self.mask(queries_BHTK.shape[2], may_attend, is_causal=is_causal)
        return self.weights(queries_BHTK, attended.keys_BHSK, mask) @ attended.values_BHSV

    def weights(self, queries_BHTK: Tensor, keys_BHSK: Tensor, mask: Tensor | None) -> Tensor:
        """(B, H, T, S)."""
        scores_BHTS = self.scores(queries_BHTK, keys_BHSK).float()
        if mask is not None:
            scores_BHTS = scores_BHTS.masked_fill(~mask, float("-inf"))
        return self.normalized(scores_BHTS)

    def scores(self, queries_BHTK: Tensor, keys_BHSK: Tensor) -> Tensor:
        """How well each key fits each query, (B, H, T, S)."""
        return queries_BHTK @ keys_BHSK.transpose(2, 3)

    def normalized(self, scores_BHTS: Tensor) -> Tensor:
        """Weights of scores that are -infinity where attention is not allowed, (B, H, T, S)."""
        return torch.softmax(scores_BHTS, dim=-1)


class AdditiveAttention(UnscaledAttention):
    """Scores by a feed-forward network with one hidden layer: v tanh(W_q q + W_k k), a v for each
    head (Bahdanau et al., 2014; named in section 3.2.1). Needs B H T S K elements of memory.
    """

    def __init__(self, d_model: int, h: int, d_k: int, d_v: int) -> None:
        super().__init__(d_model, h, d_k, d_v)
        self.v_HK = nn.Parameter(torch.empty(h, d_k))

    def reset_parameters(self, *, is_self: bool) -> None:
        """As of all attention; v as Glorot-uniform from d_k to 1."""
        super().reset_parameters(is_self=is_self)
        bound = (6 / (self.v_HK.shape[1] + 1)) ** 0.5
        nn.init.uniform_(self.v_HK, -bound, bound)

    def scores(self, queries_BHTK: Tensor, keys_BHSK: Tensor) -> Tensor:
        """(B, H, T, S)."""
        hidden_BHTSK = torch.tanh(queries_BHTK[:, :, :, None] + keys_BHSK[:, :, None])
        return (hidden_BHTSK @ self.v_HK.to(hidden_BHTSK.dtype)[:, None, :, None]).squeeze(-1)


class SigmoidAttention(UnscaledAttention):
    """sigmoid(Q K^T / sqrt(d_k) - log n) V for n positions that may be attended to: weights of
    different positions do not compete (Ramapuram et al., 2024)."""

    def scores(self, queries_BHTK: Tensor, keys_BHSK: Tensor) -> Tensor:
        """(B, H, T, S)."""
        return super().scores(queries_BHTK / queries_BHTK.shape[-1] ** 0.5, keys_BHSK)

    def normalized(self, scores_BHTS: Tensor) -> Tensor:
        """(B, H, T, S)."""
        n_BHT1 = (scores_BHTS > float("-inf")).sum(dim=-1, keepdim=True)
        return torch.sigmoid(scores_BHTS - n_BHT1.log())
