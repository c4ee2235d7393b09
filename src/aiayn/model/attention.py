"""Scaled dot-product attention (section 3.2.1) and multi-head attention (section 3.2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

from aiayn.model.device import is_fused_attention_fast
from aiayn.model.masks import may_attend_to_earlier

# on a CPU (docs/decisions/cpu-speed.md): in narrower heads the fused kernel's overhead per product
# exceeds the product itself, and a softmax over shorter rows is not vectorized
FUSED_FROM_WIDTH = 64
SOFTMAX_FROM_LENGTH = 16


def attention(
    queries_BHTK: Tensor, keys_BHSK: Tensor, values_BHSV: Tensor, may_attend: Tensor | None = None
) -> Tensor:
    """Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V, shape (B, H, T, V).

    The formula as the paper prints it.

    Args:
        may_attend: bool, broadcastable to (B, H, T, S), True where attention is allowed; every
            query needs at least one True.
    Paper: section 3.2.1, equation 1.
    """
    return attention_weights(queries_BHTK, keys_BHSK, may_attend) @ values_BHSV


def attention_weights(queries_BHTK: Tensor, keys_BHSK: Tensor, may_attend: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(d_k)), the weight of each position for each query, (B, H, T, S)."""
    # the queries are divided because they are fewer than the scores
    scores_BHTS = queries_BHTK / queries_BHTK.shape[-1] ** 0.5 @ keys_BHSK.transpose(2, 3)
    # in bfloat16 a CPU does not vectorize a softmax over fewer than 32 numbers
    if scores_BHTS.dtype == torch.bfloat16:
        scores_BHTS = scores_BHTS.float()
    if may_attend is not None:
        scores_BHTS += torch.where(may_attend, 0.0, float("-inf"))
    return torch.softmax(scores_BHTS, dim=-1)


def fast_attention(
    queries_BHTK: Tensor,
    keys_BHSK: Tensor,
    values_BHSV: Tensor,
    may_attend: Tensor | None = None,
    *,
    is_causal: bool = False,
) -> Tensor:
    """The same as `attention`, by torch's fused kernel where that is faster.

    Args:
        is_causal: position t sees positions up to t (T must equal S).
    """
    if not queries_BHTK.is_cpu or (
        is_fused_attention_fast() and queries_BHTK.shape[-1] >= FUSED_FROM_WIDTH
    ):
        return scaled_dot_product_attention(
            queries_BHTK, keys_BHSK, values_BHSV, attn_mask=may_attend, is_causal=is_causal
        )
    length = keys_BHSK.shape[2]
    if is_causal:
        may_attend = may_attend_to_earlier(length)
    missing = SOFTMAX_FROM_LENGTH - length
    if missing > 0:  # masked positions
        keys_BHSK, values_BHSV = (
            functional.pad(x, (0, 0, 0, missing)) for x in (keys_BHSK, values_BHSV)
        )
        if may_attend is None:
            may_attend = torch.ones(1, length, dtype=torch.bool)
        may_attend = functional.pad(may_attend, (0, missing))
    return attention(queries_BHTK, keys_BHSK, values_BHSV, may_attend)


@dataclass
class KeysValues:
    """Projected keys (B, H, S, K) and values (B, H, S, V) of the positions attended to."""

    keys_BHSK: Tensor
    values_BHSV: Tensor


class MultiHeadAttention(nn.Module):
    """Concat(head_1, ..., head_h) W_o with head_i = Attention(Q W_q_i, K W_k_i, V W_v_i).

    The paper's projections have no biases. `d_k` and `d_v` need not be d_model / h (table 3, B).
    """

    def __init__(self, d_model: int, h: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.h = h
        self.w_q = nn.Linear(d_model, h * d_k, bias=False)
        self.w_k = nn.Linear(d_model, h * d_k, bias=False)
        self.w_v = nn.Linear(d_model, h * d_v, bias=False)
        self.w_o = nn.Linear(h * d_v, d_model, bias=False)

    def reset_parameters(self, *, is_self: bool) -> None:
        """Glorot-uniform, with all projections of one input as one matrix: queries, keys and values
        in self-attention; keys and values in cross-attention.
        """
        fused = [self.w_k, self.w_v, self.w_q] if is_self else [self.w_k, self.w_v]
        alone = [self.w_o] if is_self else [self.w_q, self.w_o]
        for group in (fused, *([linear] for linear in alone)):
            outputs = sum(linear.out_features for linear in group)
            bound = (6 / (group[0].in_features + outputs)) ** 0.5
            for linear in group:
                nn.init.uniform_(linear.weight, -bound, bound)

    def keys_values(self, x_BSD: Tensor) -> KeysValues:
        """Keys and values for queries of another sequence."""
        keys, values = self._project(x_BSD, self.w_k, self.w_v)
        return KeysValues(keys, values)

    def queries_keys_values(self, x_BTD: Tensor) -> tuple[Tensor, KeysValues]:
        """For self-attention: queries (B, H, T, K), keys and values of the same x."""
        queries, keys, values = self._project(x_BTD, self.w_q, self.w_k, self.w_v)
        return queries, KeysValues(keys, values)

    def queries(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) to (B, H, T, K)."""
        return self._project(x_BTD, self.w_q)[0]

    def attend(
        self,
        queries_BHTK: Tensor,
        attended: KeysValues,
        *,
        may_attend: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Attend from T positions to S positions.

        Args:
            queries_BHTK: projected queries.
            attended: keys and values of S positions.
            may_attend: bool, broadcastable to (B, H, T, S), True where attention is allowed; every
                query needs at least one True.
            is_causal: position t sees positions up to t (T must equal S).
        Returns:
            (B, T, D).
        """
        heads_BHTV = self.heads(queries_BHTK, attended, may_attend, is_causal=is_causal)
        out: Tensor = self.w_o(heads_BHTV.transpose(1, 2).flatten(2))
        return out

    def heads(
        self,
        queries_BHTK: Tensor,
        attended: KeysValues,
        may_attend: Tensor | None,
        *,
        is_causal: bool,
    ) -> Tensor:
        """What each head finds, (B, H, T, V); arguments as of `attend`."""
        return fast_attention(
            queries_BHTK, attended.keys_BHSK, attended.values_BHSV, may_attend, is_causal=is_causal
        )

    def weights(self, queries_BHTK: Tensor, keys_BHSK: Tensor, mask: Tensor | None) -> Tensor:
        """The weight of each position for each query, (B, H, T, S); `mask` as of `attend`."""
        return attention_weights(queries_BHTK, keys_BHSK, mask)

    def attend_to_itself(
        self, x_BTD: Tensor, *, may_attend: Tensor | None = None, is_causal: bool = False
    ) -> Tensor:
        """Self-attention, (B, T, D) to (B, T, D); further arguments as of `attend`."""
        queries, attended = self.queries_keys_values(x_BTD)
        return self.attend(queries, attended, may_attend=may_attend, is_causal=is_causal)

    def attend_to(
        self, attended: KeysValues, x_BTD: Tensor, *, may_attend: Tensor | None = None
    ) -> Tensor:
        """Cross-attention from x to projected positions, (B, T, D) to (B, T, D)."""
        return self.attend(self.queries(x_BTD), attended, may_attend=may_attend)

    def mask(self, length: int, may_attend: Tensor | None, *, is_causal: bool) -> Tensor | None:
        """The mask of self-attention over `length` positions as a tensor, for figures and tests.
        Arguments as of `attend`."""
        return may_attend_to_earlier(length, self.w_q.weight.device) if is_causal else may_attend

    def _project(self, x_BTD: Tensor, *projections: nn.Linear) -> list[Tensor]:
        """One product for all matrices: several small ones cost more than a large one."""
        weights = [projection.weight for projection in projections]
        weight = torch.cat(weights) if len(weights) > 1 else weights[0]
        parts = functional.linear(x_BTD, weight).split_with_sizes([len(w) for w in weights], dim=2)
        return [p.view(*p.shape[:2], self.h, p.shape[2] // self.h).transpose(1, 2) for p in parts]
