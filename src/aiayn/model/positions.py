"""Positional encoding (section 3.5): how the model knows the order of tokens."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aiayn.config import Model


def sinusoids(length: int, d_model: int, *, first: int = 0, base: float = 10000.0) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same angle.

    Args:
        length: number of positions, from `first` on.
        d_model: even width; sines and cosines interleave.
        base: in place of the paper's 10000.
    Returns:
        float32 of shape (length, d_model); angles are computed in float64.
    Paper: section 3.5.
    """
    position = torch.arange(first, first + length, dtype=torch.float64)[:, None]
    frequency = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * frequency
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


class SinusoidalPositions(nn.Module):
    """Fixed encodings for any length; the table grows to the longest sentence seen."""

    table: Tensor

    def __init__(self, d_model: int, length: int, base: float = 10000.0) -> None:
        super().__init__()
        self.base = base
        self.register_buffer("table", sinusoids(length, d_model, base=base), persistent=False)

    def forward(self, first: int, length: int) -> Tensor:
        """Encodings of positions first .. first + length - 1, shape (length, d_model)."""
        table = self.table  # another thread may replace it
        if first + length > len(table):
            grown = sinusoids(2 * (first + length), table.shape[1], base=self.base)
            self.table = table = grown.to(table.device)
        return table[first : first + length]


class LearnedPositions(nn.Module):
    """One learned vector per position (table 3, row E).

    Positions beyond the table, which training never saw, use its last vector.
    """

    def __init__(self, d_model: int, length: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(length, d_model))

    def forward(self, first: int, length: int) -> Tensor:
        """Encodings of positions first .. first + length - 1, shape (length, d_model)."""
        position = torch.arange(first, first + length, device=self.table.device)
        return self.table[position.clamp_(max=len(self.table) - 1)]


class NoPositions(nn.Module):
    """Zeros: an encoder that does not know the order of its input. An extension."""

    zeros: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("zeros", torch.zeros(1, d_model), persistent=False)

    def forward(self, first: int, length: int) -> Tensor:
        """Shape (1, d_model), for any positions."""
        return self.zeros


def positions_of(model: Model, length: int) -> nn.Module:
    """The row's positional encoding; learned ones have `length` vectors."""
    if model.positions == "sinusoid":
        return SinusoidalPositions(model.d_model, length, model.position_base)
    if model.positions == "learned":
        return LearnedPositions(model.d_model, length)
    return NoPositions(model.d_model)
