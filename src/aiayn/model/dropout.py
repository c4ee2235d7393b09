"""Residual dropout (section 5.4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LEVELS = 1 << 16


class Dropout(nn.Module):
    """Zero each element with probability `p` and scale the rest by 1 / (1 - p), while training.

    On a CPU, torch's own dropout spends most of its time drawing one random number per element.
    Here four elements share one 64-bit draw, 16 bits each, so `p` is exact to within 1 / 131072.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Same shape in and out. Draws from torch's default generator of the device."""
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return functional.dropout(x, self.p)
        return x * _scaled_mask(x.shape, self.p, x.dtype)

    def extra_repr(self) -> str:
        return f"p={self.p}"


def _scaled_mask(shape: torch.Size, p: float, dtype: torch.dtype) -> Tensor:
    """0 with probability p, 1 / (1 - p) otherwise."""
    count = shape.numel()
    bits = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    dropped = min(round(p * LEVELS), LEVELS - 1)  # of LEVELS values of a signed 16-bit number
    kept = bits.view(torch.int16)[:count].view(shape) >= dropped - LEVELS // 2
    return kept.to(dtype).mul_(1 / (1 - dropped / LEVELS))
