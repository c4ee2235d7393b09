"""Attention within a neighbourhood: full attention with a banded mask, at lower cost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from aiayn.config import Model
from aiayn.model.attention import KeysValues, MultiHeadAttention
from aiayn.model.neighbourhood import NeighbourhoodAttention
from aiayn.model.transformer import Transformer
from aiayn.profiling.modules import RestrictedSelfAttention

Row = Callable[..., Model]


def band(length: int, before: int, after: int) -> Tensor:
    """True where position t sees s: t - before <= s <= t + after."""
    rows = [[t - before <= s <= t + after for s in range(length)] for t in range(length)]
    return torch.tensor(rows)


def layer(h: int, r: int) -> NeighbourhoodAttention:
    torch.manual_seed(r)
    return NeighbourhoodAttention(8, h, 3, 5, r).double()


def projected(attention: MultiHeadAttention, n: int) -> tuple[Tensor, tuple[Tensor, KeysValues]]:
    x = torch.randn(3, n, 8, dtype=torch.float64, requires_grad=True)
    return x, attention.queries_keys_values(x)


@settings(deadline=None, max_examples=40)
@given(
    n=st.integers(1, 20), r=st.integers(1, 24), h=st.sampled_from([1, 2]), causal=st.booleans(),
    padding=st.integers(0, 6),
)  # fmt: skip
def test_it_is_full_attention_with_a_banded_mask(
    n: int, r: int, h: int, causal: bool, padding: int
) -> None:
    """Outputs at real positions, and the gradients that reach them."""
    attention = layer(h, r)
    x, (queries, attended) = projected(attention, n)
    is_real = torch.ones(3, n, dtype=torch.bool)
    is_real[1, max(1, n - padding) :] = False
    in_band = band(n, r - 1, 0) if causal else band(n, r // 2, r - 1 - r // 2)
    mask = in_band if causal else is_real[:, None, None] & in_band | torch.eye(n, dtype=torch.bool)
    found = attention.attend(
        queries, attended, is_causal=causal,
        may_attend=None if causal else is_real[:, None, None],
    )  # fmt: skip
    expected = MultiHeadAttention.attend(attention, queries, attended, may_attend=mask)
    torch.testing.assert_close(found[is_real], expected[is_real])
    gradients = [
        torch.autograd.grad(
            out[is_real].square().sum(), [x, attention.w_k.weight], retain_graph=True
        )
        for out in (found, expected)
    ]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("causal", [False, True])
def test_the_mask_to_draw_is_the_band(causal: bool) -> None:
    in_band = band(7, 2, 0) if causal else band(7, 1, 1)
    assert torch.equal(layer(1, 3).mask(7, None, is_causal=causal), in_band)


@pytest.mark.parametrize("r", [1, 4, 5, 30])
def test_it_is_the_layer_that_table_1_counts(r: int) -> None:
    attention = layer(2, r)
    counted = RestrictedSelfAttention(8, 2, 3, 5, r).double()
    counted.load_state_dict(attention.state_dict())
    x, (queries, attended) = projected(attention, 11)
    torch.testing.assert_close(attention.attend(queries, attended), counted(x))


def tokens(rows: int, length: int) -> Tensor:
    generator = torch.Generator().manual_seed(rows * 100 + length)
    return torch.randint(4, 40, (rows, length), generator=generator)


def seeded(row: Model) -> Transformer:
    torch.manual_seed(0)
    return Transformer(row, 40, max_length=64).eval()


def test_a_neighbourhood_as_large_as_the_sentences_changes_nothing(tiny: Row) -> None:
    """Of the source 2 n - 1 positions: as many before a position as after it."""
    full, restricted = seeded(tiny()), seeded(tiny(neighbourhood=17))
    source, target = tokens(3, 9), tokens(3, 8)
    source[1, 5:] = 0
    torch.testing.assert_close(restricted(source, target), full(source, target))


def test_positions_outside_the_neighbourhood_are_not_seen(tiny: Row) -> None:
    """Two layers of three positions: one to either side each; of the target two before each."""
    model = seeded(tiny(N=2, neighbourhood=3))
    source, changed = tokens(1, 12), tokens(1, 12)
    changed[0, 0] = 41 - source[0, 0].clamp(max=37)
    with torch.no_grad():
        differs = (model.encode(source).layers[0].keys_BHSK
                   != model.encode(changed).layers[0].keys_BHSK).any(3).any(1)[0]  # fmt: skip
        assert differs.tolist() == [True] * 3 + [False] * 9
        before, after = (model.states(tokens(1, 5), target) for target in (source, changed))
    assert (before != after).any(2)[0].tolist() == [True] * 5 + [False] * 7


def test_a_row_without_a_neighbourhood_has_no_such_column(tiny: Row) -> None:
    """The files and fingerprints of trainings without it stay the same."""
    assert "neighbourhood" not in tiny().columns
    assert tiny(neighbourhood=4).columns["neighbourhood"] == 4


def test_a_neighbourhood_has_at_least_one_position(tiny: Row) -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        tiny(neighbourhood=0)
