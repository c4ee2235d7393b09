"""Attention beyond the paper: each weight by hand, with loops."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from aiayn.model.attention import KeysValues
from aiayn.model.variants import AdditiveAttention, SigmoidAttention, UnscaledAttention

H, D_K, D_V, S = 2, 3, 5, 6


def softmax(scores: list[float]) -> list[float]:
    return [math.exp(s) / sum(math.exp(other) for other in scores) for s in scores]


def sigmoid(scores: list[float]) -> list[float]:
    return [1 / (1 + len(scores) * math.exp(-s)) for s in scores]


def dot(q: Tensor, k: Tensor) -> float:
    return sum(float(a) * float(b) for a, b in zip(q, k, strict=True))


@pytest.mark.parametrize("kind", [UnscaledAttention, AdditiveAttention, SigmoidAttention])
def test_weights_by_hand(kind: type[UnscaledAttention]) -> None:
    torch.manual_seed(0)
    attention = kind(8, H, D_K, D_V)
    attention.reset_parameters(is_self=True)
    queries, keys = torch.randn(1, H, S, D_K), torch.randn(1, H, S, D_K)
    values = torch.randn(1, H, S, D_V)
    with torch.no_grad():
        heads = attention.heads(queries, KeysValues(keys, values), None, is_causal=True)
    for h in range(H):
        for t in range(S):
            seen = range(t + 1)
            q = queries[0, h, t]
            if isinstance(attention, AdditiveAttention):
                v = attention.v_HK[h].detach()
                weights = softmax([dot(v, torch.tanh(q + keys[0, h, s])) for s in seen])
            elif isinstance(attention, SigmoidAttention):
                weights = sigmoid([dot(q, keys[0, h, s]) / math.sqrt(D_K) for s in seen])
            else:
                weights = softmax([dot(q, keys[0, h, s]) for s in seen])
            expected = sum(w * values[0, h, s] for w, s in zip(weights, seen, strict=True))
            torch.testing.assert_close(heads[0, h, t], expected, atol=1e-5, rtol=1e-5)


def test_unscaled_scores_are_those_of_scaled_attention_times_the_root() -> None:
    attention = UnscaledAttention(8, H, D_K, D_V)
    queries, keys = torch.randn(1, H, S, D_K), torch.randn(1, H, S, D_K)
    expected = attention.weights(queries, keys, None)
    scaled = super(UnscaledAttention, attention).weights(queries * D_K**0.5, keys, None)
    torch.testing.assert_close(expected, scaled)
