"""Encoder and decoder layers (sections 3.1 to 3.3, figure 1).

Post-norm: LayerNorm(x + Dropout(Sublayer(x))).
"""

from __future__ import annotations

from torch import Tensor, nn

from aiayn.config import Model
from aiayn.model.attention import KeysValues, MultiHeadAttention
from aiayn.model.dropout import Dropout
from aiayn.model.neighbourhood import NeighbourhoodAttention

LAYER_NORM_EPSILON = 1e-6  # the authors' code; the paper is silent


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same at every position. Paper: section 3.3."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        out: Tensor = self.w_2(self.w_1(x_BTD).relu_())
        return out


class Residual(nn.Module):
    """LayerNorm(x + Dropout(y)), y being what a sub-layer made of x. Paper: sections 3.1, 5.4."""

    def __init__(self, d_model: int, p_drop: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps=LAYER_NORM_EPSILON)
        self.dropout = Dropout(p_drop)

    def forward(self, x_BTD: Tensor, y_BTD: Tensor) -> Tensor:
        """(B, T, D) twice to (B, T, D)."""
        out: Tensor = self.norm(x_BTD + self.dropout(y_BTD))
        return out


def attention_of(model: Model) -> MultiHeadAttention:
    """Attention of the row's width, heads and key and value sizes."""
    return MultiHeadAttention(model.d_model, model.h, model.d_k, model.d_v)


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
        self.self_attention_residual = Residual(model.d_model, model.P_drop)
        self.feed_forward = FeedForward(model.d_model, model.d_ff)
        self.feed_forward_residual = Residual(model.d_model, model.P_drop)

    def forward(self, x_BSD: Tensor, may_attend: Tensor | None) -> Tensor:
        """(B, S, D) to (B, S, D); `may_attend` as in MultiHeadAttention."""
        queries, attended = self.self_attention.queries_keys_values(x_BSD)
        x_BSD = self.self_attention_residual(
            x_BSD, self.self_attention.attend(queries, attended, may_attend=may_attend)
        )
        out: Tensor = self.feed_forward_residual(x_BSD, self.feed_forward(x_BSD))
        return out


class DecoderLayer(nn.Module):
    """Causal self-attention, attention over the encoder's output, feed-forward network; the right
    half of figure 1.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.self_attention = self_attention_of(model)
        self.self_attention_residual = Residual(model.d_model, model.P_drop)
        self.cross_attention = attention_of(model)
        self.cross_attention_residual = Residual(model.d_model, model.P_drop)
        self.feed_forward = FeedForward(model.d_model, model.d_ff)
        self.feed_forward_residual = Residual(model.d_model, model.P_drop)

    def forward(self, x_BTD: Tensor, memory: KeysValues, may_attend: Tensor | None) -> Tensor:
        """All target positions at once.

        Args:
            x_BTD: float, the layer's input.
            memory: this layer's projection of the encoder's output.
            may_attend: which source positions are real, broadcastable to (B, H, T, S).
        """
        queries, attended = self.self_attention.queries_keys_values(x_BTD)
        x_BTD = self.self_attention_residual(
            x_BTD, self.self_attention.attend(queries, attended, is_causal=True)
        )
        return self._after_self_attention(x_BTD, memory, may_attend)

    def step(
        self, x_BWD: Tensor, past: KeysValues, memory: KeysValues, may_attend: Tensor | None
    ) -> tuple[Tensor, KeysValues]:
        """The next position of W hypotheses for each of B sentences.

        Args:
            x_BWD: float, the newest position alone.
            past: keys and values of the positions before it that are seen, (B * W, H, t, ...).
            memory: this layer's projection of the encoder's output, (B, H, S, ...): the hypotheses
                of a sentence share it.
            may_attend: which source positions are real, (B, 1, 1, S).
        Returns:
            The layer's output (B, W, D), and `past` with the new position.
        """
        x_F1D = x_BWD.flatten(0, 1)[:, None]
        queries, newest = self.self_attention.queries_keys_values(x_F1D)
        attended = self.self_attention.visible(past.extended(newest))
        y_BWD = self.self_attention.attend(queries, attended).view_as(x_BWD)
        x_BWD = self.self_attention_residual(x_BWD, y_BWD)
        return self._after_self_attention(x_BWD, memory, may_attend), attended

    def _after_self_attention(
        self, x_BTD: Tensor, memory: KeysValues, may_attend: Tensor | None
    ) -> Tensor:
        queries = self.cross_attention.queries(x_BTD)
        x_BTD = self.cross_attention_residual(
            x_BTD, self.cross_attention.attend(queries, memory, may_attend=may_attend)
        )
        out: Tensor = self.feed_forward_residual(x_BTD, self.feed_forward(x_BTD))
        return out
