"""Chains of operations and path lengths of layers whose values follow from their definition."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from aiayn.errors import ProfileError
from aiayn.profiling.chains import longest_chain
from aiayn.profiling.layer_types import LAYER_TYPES, PATHS, Sizes
from aiayn.profiling.modules import Convolution
from aiayn.profiling.reachability import dependence, path_length, relations, stacked

SIZES = Sizes(n=16, d=4, k=3, r=4, h=2)


def chains(name: str, lengths: tuple[int, ...] = (3, 6, 9)) -> list[int]:
    layers = (LAYER_TYPES[name].build(replace(SIZES, n=n)) for n in lengths)
    return [longest_chain(layer, n, 4) for layer, n in zip(layers, lengths, strict=True)]


@pytest.mark.parametrize("name", ["self_attention", "convolutional", "restricted", "separable"])
def test_without_a_loop_the_chain_has_a_constant_length(name: str) -> None:
    assert len(set(chains(name))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["recurrent", "lstm", "gru"])
def test_the_chain_of_a_recurrence_grows_with_every_position(name: str) -> None:
    first, second, third = chains(name)
    assert third - second == second - first >= 3  # at least a product a position


def test_a_loop_that_writes_in_place_is_counted() -> None:
    class InPlace(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            out = torch.zeros_like(x)
            for t in range(1, x.shape[1]):
                out[:, t] = torch.tanh(out[:, t - 1] + x[:, t])
            return out

    assert longest_chain(InPlace(), 9, 4) - longest_chain(InPlace(), 5, 4) == 4 * 2


@settings(max_examples=20)
@given(n=st.integers(2, 40), k=st.sampled_from([3, 5, 7]), r=st.integers(2, 9))
def test_path_lengths_follow_from_the_definitions(n: int, k: int, r: int) -> None:
    sizes = Sizes(n, 2, k, r, 1)
    found = {
        name: path_length(relations(LAYER_TYPES[name], path, sizes), n)
        for name, path in PATHS.items()
    }
    expected = {
        "self_attention": 1,
        "recurrent": n,
        "convolutional": math.ceil((n - 1) / (k // 2)),
        "dilated": next(layers for layers in range(1, 9) if k**layers >= n),
        "restricted": math.ceil((n - 1) / (r // 2)),
    }
    assert {name: found[name] for name in expected} == expected


def test_products_of_relations_are_the_jacobian_of_the_stack() -> None:
    torch.manual_seed(0)
    layers = nn.Sequential(*(Convolution(3, 3) for _ in range(3))).double()
    depends = [dependence(layer, 9, 3) for layer in layers]
    *_, product = islice(stacked(lambda height: depends[height], 9), 3)
    assert torch.equal(product, dependence(layers, 9, 3))
    assert product.sum(dim=1).tolist() == [4, 5, 6, 7, 7, 7, 6, 5, 4]


def test_unconnected_positions_are_an_error() -> None:
    with pytest.raises(ProfileError, match="8 layers do not connect"):
        path_length(lambda _: torch.eye(8, dtype=torch.bool), 8)


def test_dependence_of_full_and_restricted_attention() -> None:
    full = dependence(LAYER_TYPES["self_attention"].build(SIZES).double(), 16, 4)
    restricted = dependence(LAYER_TYPES["restricted"].build(SIZES).double(), 16, 4)
    assert full.all()
    assert restricted.sum(dim=1).max() == SIZES.r
