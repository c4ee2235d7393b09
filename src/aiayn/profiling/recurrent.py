"""Recurrent layers, which self-attention is compared with (section 4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class Recurrence(nn.Module):
    """h_t = tanh(W h_{t-1} + U x_t + b), h_0 = 0: the plain cell of table 1's O(n d^2).

    Exactly 2 n d^2 multiply-adds: n d^2 of W, one position after the other, and n d^2 of U, of
    which all positions are computed at once. Paper: section 4.
    """

    def __init__(self, d: int) -> None:
        super().__init__()
        self.u = nn.Linear(d, d)
        self.w = nn.Linear(d, d, bias=False)

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D), all the states."""
        state_BD = torch.zeros_like(x_BND[:, 0])
        states = []
        for input_BD in self.u(x_BND).unbind(dim=1):
            state_BD = torch.tanh(input_BD + self.w(state_BD))
            states.append(state_BD)
        return torch.stack(states, dim=1)

    def step(self, states_BND: Tensor, x_BND: Tensor) -> Tensor:
        """One step of time at every position: from the states (B, N, D) of the positions to those
        that each would have after its neighbour on the left. n steps from zero are `forward`.
        """
        earlier_BND = functional.pad(states_BND, (0, 0, 1, 0))[:, :-1]
        return torch.tanh(self.u(x_BND) + self.w(earlier_BND))


class GatedRecurrence(nn.Module):
    """torch's own LSTM or GRU layer, from left to right.

    8 n d^2 multiply-adds for the LSTM's four gates, 6 n d^2 for the GRU's three: one product with
    the input and one with the state each. Paper: section 1 names both, section 4 compares.
    """

    def __init__(self, cell: type[nn.LSTM] | type[nn.GRU], d: int) -> None:
        super().__init__()
        self.layer = cell(d, d, batch_first=True)

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D), all the states."""
        out: Tensor = self.layer(x_BND)[0]
        return out
