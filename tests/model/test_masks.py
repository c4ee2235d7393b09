"""In every mask True means "may attend"."""

from __future__ import annotations

import torch

from aiayn.model.attention import MultiHeadAttention
from aiayn.model.masks import is_real, may_attend_to_earlier, may_attend_to_real


def test_is_causal_equals_the_causal_mask() -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(d_model=8, h=2, d_k=4, d_v=4)
    queries, attended = attention.queries_keys_values(torch.randn(3, 5, 8))
    by_flag = attention.attend(queries, attended, is_causal=True)
    by_mask = attention.attend(queries, attended, may_attend=may_attend_to_earlier(5))
    torch.testing.assert_close(by_flag, by_mask)


def test_padding_and_the_first_position() -> None:
    real = is_real(torch.tensor([[4, 3, 0], [0, 0, 0]]), pad=0)
    assert real.tolist() == [[True, True, False], [False, False, False]]
    allowed = may_attend_to_real(real)[:, 0, 0]
    assert allowed.tolist() == [[True, True, False], [True, False, False]]
