"""The layers that table 1 compares attention with, compared with other implementations."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from aiayn.profiling.modules import (
    Convolution,
    DilatedConvolution,
    GatedRecurrence,
    Recurrence,
    RestrictedSelfAttention,
    SeparableConvolution,
)


@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 12), r=st.integers(1, 15), h=st.sampled_from([1, 2]))
def test_restricted_attention_is_full_attention_with_a_banded_mask(n: int, r: int, h: int) -> None:
    torch.manual_seed(n * 100 + r)
    layer = RestrictedSelfAttention(8, h, 3, 5, r).double()
    x = torch.randn(2, n, 8, dtype=torch.float64)
    offset = torch.arange(n)[None, :] - torch.arange(n)[:, None]
    band = (offset >= -(r // 2)) & (offset < r - r // 2)
    queries, attended = layer.queries_keys_values(x)
    torch.testing.assert_close(layer(x), layer.attend(queries, attended, may_attend=band))


def test_the_plain_recurrence_is_torchs_rnn() -> None:
    torch.manual_seed(0)
    ours, theirs = Recurrence(6), nn.RNN(6, 6, batch_first=True)
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(ours.u.weight)
        theirs.bias_ih_l0.copy_(ours.u.bias)
        theirs.weight_hh_l0.copy_(ours.w.weight)
        theirs.bias_hh_l0.zero_()
    x = torch.randn(3, 7, 6)
    torch.testing.assert_close(ours(x), theirs(x)[0])


def test_n_steps_at_all_positions_are_the_recurrence() -> None:
    torch.manual_seed(0)
    layer, x = Recurrence(4).double(), torch.randn(2, 5, 4, dtype=torch.float64)
    states = torch.zeros_like(x)
    for _ in range(5):
        states = layer.step(states, x)
    torch.testing.assert_close(states, layer(x))


def test_a_convolution_is_a_sum_over_shifted_inputs() -> None:
    torch.manual_seed(0)
    layer, x = Convolution(4, 3).double(), torch.randn(2, 6, 4, dtype=torch.float64)
    padded = functional.pad(x, (0, 0, 1, 1))
    weight = layer.convolution.weight
    expected = sum(padded[:, i : i + 6] @ weight[:, :, i].T for i in range(3))
    torch.testing.assert_close(layer(x), expected)


def test_a_dilated_convolution_reads_backwards() -> None:
    torch.manual_seed(0)
    layer, x = DilatedConvolution(4, 3, 2).double(), torch.randn(2, 9, 4, dtype=torch.float64)
    padded = functional.pad(x, (0, 0, 4, 0))
    weight = layer.convolution.weight
    expected = sum(padded[:, 2 * i : 2 * i + 9] @ weight[:, :, i].T for i in range(3))
    torch.testing.assert_close(layer(x), expected)


def test_a_separable_convolution_is_one_of_low_rank_weights() -> None:
    torch.manual_seed(0)
    layer, x = SeparableConvolution(4, 3).double(), torch.randn(2, 6, 4, dtype=torch.float64)
    full = Convolution(4, 3).double()
    weight = layer.pointwise.weight * layer.depthwise.weight.transpose(0, 1)
    full.convolution.weight = nn.Parameter(weight)
    torch.testing.assert_close(layer(x), full(x))


@pytest.mark.parametrize(
    "layer",
    [
        RestrictedSelfAttention(8, 2, 4, 4, 3),
        Recurrence(8),
        GatedRecurrence("LSTM", 8),
        GatedRecurrence("GRU", 8),
        Convolution(8, 5),
        DilatedConvolution(8, 3, 3),
        SeparableConvolution(8, 5),
    ],
)
def test_output_has_the_shape_of_the_input(layer: nn.Module) -> None:
    assert layer(torch.randn(2, 7, 8)).shape == (2, 7, 8)
