"""Attention masks (sections 3.1 and 3.2.3). True means "may attend"."""

from __future__ import annotations

import torch
from torch import Tensor


def is_real(tokens_BS: Tensor, pad: int) -> Tensor:
    """True where a token is not padding; shape (B, S)."""
    return tokens_BS != pad


def may_attend_to_real(is_real_BS: Tensor) -> Tensor:
    """Every query may attend to the real tokens of its own sentence; shape (B, 1, 1, S).

    The first position is always allowed: a row of padding, which fills up a batch, has no real
    token, and a softmax over nothing would be NaN.
    """
    may_attend_BS = is_real_BS.clone()
    may_attend_BS[:, 0] = True
    return may_attend_BS[:, None, None, :]


def may_attend_to_earlier(length: int, device: torch.device | None = None) -> Tensor:
    """Position t may attend to positions up to and including t; shape (T, T).

    The subsequent mask of section 3.1. torch's fused kernel takes `is_causal` instead and needs no
    such tensor.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
