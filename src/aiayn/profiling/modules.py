"""The layers of table 1, and those that section 4 compares with them, as modules."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from aiayn.model.attention import MultiHeadAttention


class SelfAttention(MultiHeadAttention):
    """The model's own multi-head attention, from a sequence to itself (section 3.2.3)."""

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D)."""
        return self.attend_to_itself(x_BND)


class RestrictedSelfAttention(MultiHeadAttention):
    """Each position attends to `r` positions around its own: r // 2 before it, itself, the rest
    after it. Paper: section 4; table 1, last row.

    Windows are sliced from the keys and values, so no n x n matrix is ever allocated. Attention
    takes exactly r n h (d_k + d_v) multiply-adds for any n (positions outside the sequence are
    computed, then masked), and the four projections 2 n d h (d_k + d_v).
    """

    def __init__(self, d_model: int, h: int, d_k: int, d_v: int, r: int) -> None:
        super().__init__(d_model, h, d_k, d_v)
        self.r = r
        self.scale = d_k**-0.5

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D)."""
        queries_BHNK, attended = self.queries_keys_values(x_BND)
        keys_BHNKR = self._windows(attended.keys_BHSK)
        values_BHNVR = self._windows(attended.values_BHSV)
        scores_BHN1R = self.scale * queries_BHNK[..., None, :] @ keys_BHNKR
        inside_NR = self._windows(x_BND.new_ones(1, 1, x_BND.shape[1], 1))[0, 0, :, 0] > 0
        scores_BHN1R = scores_BHN1R.masked_fill(~inside_NR[:, None], float("-inf"))
        heads_BHN1V = scores_BHN1R.softmax(dim=-1) @ values_BHNVR.transpose(-1, -2)
        out: Tensor = self.w_o(heads_BHN1V.squeeze(-2).transpose(1, 2).flatten(2))
        return out

    def _windows(self, x_BHNK: Tensor) -> Tensor:
        """The r positions around each position, (B, H, N, K, R); zeros outside the sequence."""
        before = self.r // 2
        padded = functional.pad(x_BHNK, (0, 0, before, self.r - 1 - before))
        return padded.unfold(2, self.r, 1)


class Recurrence(nn.Module):
    """h_t = tanh(W h_{t-1} + U x_t + b), h_0 = 0: the plain cell of table 1's O(n d^2).

    Exactly 2 n d^2 multiply-adds: n d^2 for W, sequentially, and n d^2 for U, for all positions at
    once. Paper: section 4.
    """

    def __init__(self, d: int) -> None:
        super().__init__()
        self.u = nn.Linear(d, d)
        self.w = nn.Linear(d, d, bias=False)

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to the states at all positions, (B, N, D)."""
        state_BD = torch.zeros_like(x_BND[:, 0])
        states = []
        for input_BD in self.u(x_BND).unbind(dim=1):
            state_BD = torch.tanh(input_BD + self.w(state_BD))
            states.append(state_BD)
        return torch.stack(states, dim=1)

    def step(self, states_BND: Tensor, x_BND: Tensor) -> Tensor:
        """One time step at every position: each state (B, N, D) is updated from its left
        neighbour's. n steps from zero states equal `forward`.
        """
        earlier_BND = functional.pad(states_BND, (0, 0, 1, 0))[:, :-1]
        return torch.tanh(self.u(x_BND) + self.w(earlier_BND))


class RecurrenceStep(nn.Module):
    """A time step of the plain recurrence at every position, as a layer of a stack: the first layer
    (`reads`) reads the inputs, with states of zero; the others propagate the states.
    """

    def __init__(self, d: int, *, reads: bool) -> None:
        super().__init__()
        self.recurrence = Recurrence(d)
        self.reads = reads

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D)."""
        zeros_BND = torch.zeros_like(x_BND)
        if self.reads:
            return self.recurrence.step(zeros_BND, x_BND)
        return self.recurrence.step(x_BND, zeros_BND)


class GatedRecurrence(nn.Module):
    """torch's own LSTM or GRU layer, from left to right.

    8 n d^2 multiply-adds for the LSTM's four gates, 6 n d^2 for the GRU's three: each gate has one
    product with the input and one with the state. Paper: section 1 names both, section 4 compares.
    """

    def __init__(self, cell: Literal["LSTM", "GRU"], d: int) -> None:
        super().__init__()
        cells = {"LSTM": nn.LSTM, "GRU": nn.GRU}
        self.layer = cells[cell](d, d, batch_first=True)

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to the states at all positions, (B, N, D)."""
        out: Tensor = self.layer(x_BND)[0]
        return out


class Convolution(nn.Module):
    """Centred kernel of `k` positions over all d channels; the output is as long as the input.

    Exactly k n d^2 multiply-adds, padding included. A stack connects any two of n positions after
    O(n / k) layers. Paper: section 4.

    Args:
        k: odd.
    """

    def __init__(self, d: int, k: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(d, d, k, padding=k // 2, bias=False)

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D)."""
        out: Tensor = self.convolution(x_BND.transpose(1, 2)).transpose(1, 2)
        return out


class DilatedConvolution(nn.Module):
    """Causal kernel of `k` positions, `dilation` apart, as in ByteNet's decoder.

    Exactly k n d^2 multiply-adds. A stack with dilations 1, k, k^2, ... connects n positions in
    ceil(log_k n) layers: each layer covers one base-k digit of the distance. Paper: section 4.
    """

    def __init__(self, d: int, k: int, dilation: int) -> None:
        super().__init__()
        self.before = (k - 1) * dilation
        self.convolution = nn.Conv1d(d, d, k, dilation=dilation, bias=False)

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D)."""
        x_BDN = functional.pad(x_BND.transpose(1, 2), (self.before, 0))
        out: Tensor = self.convolution(x_BDN).transpose(1, 2)
        return out


class SeparableConvolution(nn.Module):
    """A depthwise kernel of `k` positions, then a pointwise d x d product.

    Exactly k n d + n d^2 multiply-adds: section 4's own formula for separable convolutions.

    Args:
        k: odd.
    """

    def __init__(self, d: int, k: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv1d(d, d, k, padding=k // 2, groups=d, bias=False)
        self.pointwise = nn.Conv1d(d, d, 1, bias=False)

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D)."""
        out: Tensor = self.pointwise(self.depthwise(x_BND.transpose(1, 2))).transpose(1, 2)
        return out
