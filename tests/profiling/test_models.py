"""FLOPs of whole models by a formula, by a second derivation of it, and by two counters."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.config import Model
from aiayn.model.transformer import Transformer
from aiayn.profiling.counting import count_with_fvcore
from aiayn.profiling.models import ForwardFlops, count, count_layers, profile_model


@pytest.mark.slow
@settings(max_examples=10)
@given(
    source=st.integers(1, 9), target=st.integers(1, 9), r=st.sampled_from([None, None, 1, 3, 20])
)
def test_any_two_lengths_have_the_flops_of_the_formula(
    source: int, target: int, r: int | None
) -> None:
    row = Model(
        N=2, d_model=12, d_ff=20, h=3, d_k=2, d_v=5, P_drop=0.1, eps_ls=0.1, steps=1,
        positions="learned", average=1, checkpoint_steps=1, neighbourhood=r,
    )  # fmt: skip
    with torch.device("meta"):
        model = Transformer(row, 31, max_length=16).eval()
        lengths = (torch.zeros(1, n, dtype=torch.long) for n in (source, target))
        counted = sum(count_with_fvcore(model, *lengths).values())
    assert counted == ForwardFlops.of(row, 31).pair(source, target)


def test_without_attention_scores_base_costs_two_flops_a_weight_and_piece() -> None:
    """Kaplan's rule of thumb, exact here: 2 x the weights of the products that use a piece."""
    base = Model(
        N=6, d_model=512, d_ff=2048, h=8, d_k=64, d_v=64, P_drop=0.1, eps_ls=0.1, steps=1,
        positions="sinusoid", average=1, checkpoint_steps=1,
    )  # fmt: skip
    flops = ForwardFlops.of(base, 37_000)
    encoder = 6 * (4 * 512**2 + 2 * 512 * 2048)
    keys_values = 6 * 2 * 512**2
    decoder = 6 * (6 * 512**2 + 2 * 512 * 2048)
    assert flops.source == 2 * (encoder + keys_values)
    assert flops.target == 2 * (decoder + 37_000 * 512)


def test_a_models_profile(tiny: Callable[..., Model]) -> None:
    profile = profile_model(tiny(P_drop=0.0), 50, 7, 16)
    forward = profile.pair_flops.forward
    assert profile.pair_flops.training == 3 * forward
    assert 7 * (profile.forward_flops.source + profile.forward_flops.target) == forward
    with torch.device("meta"):
        model = Transformer(tiny(), 50, max_length=16)
    assert profile.parameters == sum(p.numel() for p in model.parameters())


def test_a_classifiers_profile(tiny: Callable[..., Model]) -> None:
    """Of a sentence of 7 pieces: the encoder's products, and one of the head."""
    row = tiny(P_drop=0.0)
    profile = profile_model(row, 50, 7, 16, labels=3)
    layer = 2 * 7 * (4 * 16**2 + 2 * 16 * 32) + 2 * 2 * 7**2 * 16  # scores, and weighted values
    assert profile.pair_flops.forward == 2 * layer + 2 * 16 * 3
    attention, network, norms = 4 * 16**2, 2 * 16 * 32 + 32 + 16, 2 * 2 * 16
    assert profile.parameters == 50 * 16 + 2 * (attention + network + norms) + 16 * 3 + 3


def test_within_a_neighbourhood_scores_grow_linearly(
    tiny: Callable[..., Model],
) -> None:
    """Two blocks of four see seven positions each: 56 scores of 64; of eighty, 560 of 6,400."""
    restricted = ForwardFlops.of(tiny(neighbourhood=4), 50)
    full = ForwardFlops.of(tiny(), 50)
    flops_per_score = 2 * 2 * 2 * (8 + 8)  # FLOPs, layers, heads, d_k + d_v
    assert full.pair(8, 8) - restricted.pair(8, 8) == 2 * flops_per_score * (64 - 56)
    assert full.pair(80, 8) - full.pair(8, 8) - restricted.pair(80, 8) + restricted.pair(
        8, 8
    ) == flops_per_score * ((6400 - 64) - (560 - 56))
    assert profile_model(tiny(P_drop=0.0, neighbourhood=4), 50, 7, 16).pair_flops.forward == (
        restricted.pair(7, 7)
    )


@pytest.mark.parametrize(("N", "d_ff"), [(1, 32), (3, 64)])
def test_the_profile_follows_the_row(tiny: Callable[..., Model], N: int, d_ff: int) -> None:
    profile = profile_model(tiny(N=N, d_ff=d_ff), 50, 7, 16)
    assert profile.pair_flops.forward == ForwardFlops.of(tiny(N=N, d_ff=d_ff), 50).pair(7, 7)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [0, 3])
@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"neighbourhood": 4},
        {"positions": "learned"},
        {"attention": "additive", "positions": "none"},
        {"attention": "sigmoid", "norm": "pre"},
    ],
    ids=str,
)
def test_one_layer_is_extrapolated_to_all(
    tiny: Callable[..., Model], columns: dict[str, object], labels: int
) -> None:
    for layers in (2, 4):  # of one it holds by construction
        model = tiny(N=layers, P_drop=0.0, **columns)
        assert count_layers(model, 50, 7, 16, labels) == count(model, 50, 7, 16, labels)
