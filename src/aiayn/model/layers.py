"""Encoder and decoder layers (sections 3.1 to 3.3, figure 1).

The same layer serves all positions at once (training) and one position at a time (decoding): the
two differ in their attention, which a decoder layer takes as an argument.
Shape suffixes as in model/transformer.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import Tensor, nn

from aiayn.config import Model
from aiayn.model.attention import KeysValues, MultiHeadAttention
from aiayn.model.dropout import Dropout
from aiayn.model.neighbourhood import NeighbourhoodAttention
from aiayn.model.variants import AdditiveAttention, SigmoidAttention, UnscaledAttention

LAYER_NORM_EPSILON = 1e-6  # the authors' code; the paper is silent

Sublayer = Callable[[Tensor], Tensor]
"""A sub-layer's function, (B, T, D) to (B, T, D)."""


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same at every position. Paper: section 3.3."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        out: Tensor = self.w_2(self.w_1(x_BTD).relu())
        return out


class Residual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))). Paper: sections 3.1, 5.4."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(model.d_model, eps=LAYER_NORM_EPSILON)
        self.dropout = Dropout(model.P_drop)

    def forward(self, x_BTD: Tensor, sublayer: Sublayer) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        out: Tensor = self.norm(x_BTD + self.dropout(sublayer(x_BTD)))
        return out


class PreNormResidual(Residual):
    """x + Dropout(Sublayer(LayerNorm(x))): an extension. Nothing normalizes the sum, so each stack
    ends with a norm (`final_norm`)."""

    def forward(self, x_BTD: Tensor, sublayer: Sublayer) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        out: Tensor = x_BTD + self.dropout(sublayer(self.norm(x_BTD)))
        return out


def residual_of(model: Model) -> Residual:
    """The residual connection around a sub-layer."""
    return Residual(model) if model.norm == "post" else PreNormResidual(model)


def final_norm(model: Model) -> nn.Module:
    """What follows a stack: nothing in the paper."""
    if model.norm == "post":
        return nn.Identity()
    return nn.LayerNorm(model.d_model, eps=LAYER_NORM_EPSILON)


ATTENTIONS = {
    "scaled": MultiHeadAttention,
    "unscaled": UnscaledAttention,
    "additive": AdditiveAttention,
    "sigmoid": SigmoidAttention,
}


def attention_of(model: Model) -> MultiHeadAttention:
    """Attention of the row's kind, width, heads and key and value sizes."""
    return ATTENTIONS[model.attention](model.d_model, model.h, model.d_k, model.d_v)


def self_attention_of(model: Model) -> MultiHeadAttention:
    """The same, within the row's neighbourhood where it has one."""
    if model.neighbourhood is None:
        return attention_of(model)
    return NeighbourhoodAttention(model.d_model, model.h, model.d_k, model.d_v, model.neighbourhood)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network; the left half of figure 1."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.self_attention = self_attention_of(model)
        self.self_attention_residual = residual_of(model)
        self.feed_forward = FeedForward(model.d_model, model.d_ff)
        self.feed_forward_residual = residual_of(model)

    def forward(self, x_BSD: Tensor, may_attend: Tensor | None) -> Tensor:
        """(B, S, D) to (B, S, D); `may_attend` as in MultiHeadAttention."""
        x_BSD = self.self_attention_residual(
            x_BSD, lambda x: self.self_attention.attend_to_itself(x, may_attend=may_attend)
        )
        out: Tensor = self.feed_forward_residual(x_BSD, self.feed_forward)
        return out


@dataclass(frozen=True)
class DecoderAttention:
    """What a decoder layer's two attentions compute from its input: for all target positions at
    once (training), or for the newest ones with cached keys and values (decoding)."""

    to_target: Sublayer
    to_source: Sublayer


class DecoderLayer(nn.Module):
    """Self-attention over the target so far, attention over the source, feed-forward network; the
    right half of figure 1.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.self_attention = self_attention_of(model)
        self.self_attention_residual = residual_of(model)
        self.cross_attention = attention_of(model)
        self.cross_attention_residual = residual_of(model)
        self.feed_forward = FeedForward(model.d_model, model.d_ff)
        self.feed_forward_residual = residual_of(model)

    def forward(self, x_BTD: Tensor, attention: DecoderAttention) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        x_BTD = self.self_attention_residual(x_BTD, attention.to_target)
        x_BTD = self.cross_attention_residual(x_BTD, attention.to_source)
        out: Tensor = self.feed_forward_residual(x_BTD, self.feed_forward)
        return out

    def attention(self, source: KeysValues, may_attend: Tensor | None) -> DecoderAttention:
        """What `forward` needs to run over all target positions at once.

        Args:
            source: this layer's projection of the encoder's output.
            may_attend: which source positions are real, broadcastable to (B, H, T, S).
        """
        return DecoderAttention(
            to_target=partial(self.self_attention.attend_to_itself, is_causal=True),
            to_source=partial(self.cross_attention.attend_to, source, may_attend=may_attend),
        )


def encoder_layers(model: Model) -> nn.ModuleList:
    """The encoder's stack, bottom first."""
    return nn.ModuleList(EncoderLayer(model) for _ in range(model.N))


def decoder_layers(model: Model) -> nn.ModuleList:
    """The decoder's stack, bottom first."""
    return nn.ModuleList(DecoderLayer(model) for _ in range(model.N))
