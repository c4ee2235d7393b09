"""Convolutional layers, which self-attention is compared with (section 4)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class Convolution(nn.Module):
    """Kernel of `k` neighbouring positions, centred, over all d channels; as long out as in.

    Exactly k n d^2 multiply-adds, places outside the sequence included. A stack joins any two of n
    positions after O(n / k) layers. Paper: section 4.

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
    """Kernel of `k` positions, `dilation` apart, the last of them its own: as in ByteNet's decoder.

    Exactly k n d^2 multiply-adds. A stack with dilations 1, k, k^2, ... carries a signal over n
    positions in ceil(log_k n) layers: a distance in digits to base k. Paper: section 4.
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
    """A kernel of `k` positions for each channel alone, then one d x d product at each position.

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
