"""Bytes of tensors alive at once, compared with sums by hand."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aiayn.model.device import Device
from aiayn.profiling.clocks import LiveBytes, clock


def test_the_peak_is_the_largest_sum_alive_at_once() -> None:
    x = torch.zeros(1000)
    with LiveBytes() as live:
        first = x + 1
        second = first + 1
        del first
        third = second * 2
        del second, third
        _ = x[:10]  # a view of an existing tensor
    assert live.peak == 2 * 1000 * 4


def test_a_layer_has_seconds_and_bytes_of_both_passes() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(250))

        def forward(self, x: Tensor) -> Tensor:
            return x * self.weight

    measured = clock(Twice(), torch.ones(1, 1, 250), Device(torch.device("cpu"), "float32"))
    assert measured.forward_bytes == 1000
    assert measured.training_bytes >= 2000  # the output, and the weight's gradient
    assert 0 < measured.forward_seconds < 60
    assert 0 < measured.training_seconds < 60
