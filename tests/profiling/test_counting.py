"""FLOPs compared with sums by hand, and operators that cannot be counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from aiayn.errors import ProfileError
from aiayn.profiling.counting import count_with_fvcore, count_with_torch
from aiayn.profiling.growth import exponents
from aiayn.profiling.layer_types import LAYER_TYPES, Sizes
from aiayn.profiling.layers import count
from aiayn.profiling.modules import RestrictedSelfAttention

# multiply-adds at n = 10, d = 16, k = 3, r = 4, summed by hand: term, and projections
BY_HAND = {
    "self_attention": (10 * 10 * 16 + 10 * 10 * 16, 4 * 10 * 16 * 16),
    "recurrent": (10 * 16 * 16 + 10 * 16 * 16, 0),
    "convolutional": (3 * 10 * 16 * 16, 0),
    "restricted": (10 * 4 * 16 + 10 * 4 * 16, 4 * 10 * 16 * 16),
    "lstm": (4 * (10 * 16 * 16 + 10 * 16 * 16), 0),
    "gru": (3 * (10 * 16 * 16 + 10 * 16 * 16), 0),
    "dilated": (3 * 10 * 16 * 16, 0),
    "separable": (3 * 10 * 16 + 10 * 16 * 16, 0),
}
SIZES = Sizes(n=10, d=16, k=3, r=4, h=2)


class MaskedFullMatrix(RestrictedSelfAttention):
    """Not restricted attention: all of Q K^T, most of it masked afterwards."""

    def forward(self, x_BND: Tensor) -> Tensor:
        queries, attended = self.queries_keys_values(x_BND)
        position = torch.arange(x_BND.shape[1])
        band = (position[None, :] - position[:, None]).abs() <= self.r // 2
        scores = self.scale * queries @ attended.keys_BHSK.transpose(2, 3)
        weights = scores.masked_fill(~band, float("-inf")).softmax(dim=-1)
        heads = weights @ attended.values_BHSV
        out: Tensor = self.w_o(heads.transpose(1, 2).flatten(2))
        return out


@pytest.mark.parametrize("name", LAYER_TYPES)
def test_every_layer_has_the_count_by_hand(name: str) -> None:
    term, projections = BY_HAND[name]
    assert count(name, LAYER_TYPES[name], SIZES) == (2 * term, 2 * (term + projections))


@settings(max_examples=15)
@given(
    name=st.sampled_from(["self_attention", "restricted", "convolutional", "recurrent"]),
    n=st.integers(1, 9), d=st.sampled_from([4, 8]), k=st.sampled_from([1, 3, 5]),
    r=st.integers(1, 12), h=st.sampled_from([1, 2, 4]),
)  # fmt: skip
def test_the_counters_agree_at_any_size(name: str, n: int, d: int, k: int, r: int, h: int) -> None:
    count(name, LAYER_TYPES[name], Sizes(n, d, k, r, h))  # raises if they do not


def test_a_masked_full_matrix_does_not_pass_for_restricted_attention() -> None:
    masked = replace(
        LAYER_TYPES["restricted"], build=lambda s: MaskedFullMatrix(s.d, s.h, 8, 8, s.r)
    )
    with pytest.raises(ProfileError, match="closed formula"):
        count("restricted", masked, SIZES)
    costs = []
    for n in (8, 16, 32):
        flops = count_with_fvcore(MaskedFullMatrix(16, 2, 8, 8, 4), torch.zeros(1, n, 16))
        costs.append(flops["matmul"])
    growth = exponents({"n": [8, 16, 32]}, costs)["n"]
    assert growth.value == pytest.approx(2, abs=1e-9)  # a neighbourhood would have given 1


def test_an_operator_that_cannot_be_counted_is_an_error() -> None:
    class Odd(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.cdist(x, x)

    with pytest.raises(ProfileError, match=r"Odd uses aten::cdist, which cannot be counted"):
        count_with_fvcore(Odd(), torch.zeros(1, 3, 4))


def test_a_backward_pass_of_a_product_costs_twice_the_product() -> None:
    linear, x = nn.Linear(4, 5, bias=False), torch.zeros(3, 4, requires_grad=True)
    forward = 2 * 3 * 4 * 5
    assert count_with_torch(lambda: linear(x), backward=True) == (forward, 3 * forward)
