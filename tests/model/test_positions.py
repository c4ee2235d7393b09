"""Sinusoids against the paper's formula, written out with the standard library."""

from __future__ import annotations

import math

import pytest
import torch

from aiayn.model.positions import sinusoids


@pytest.mark.parametrize("position", [0, 1, 17, 4000])
@pytest.mark.parametrize("i", [0, 1, 100, 255])
def test_section_3_5(position: int, i: int) -> None:
    table = sinusoids(1, 512, first=position)[0]
    angle = position / 10000 ** (2 * i / 512)
    assert table[2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
    assert table[2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_a_shift_is_a_linear_map() -> None:
    """PE(pos + k) is a fixed rotation of PE(pos): the reason the paper gives for the choice."""
    table = sinusoids(50, 8).double()
    k = 7
    frequency = 10000.0 ** (-torch.arange(0, 8, 2) / 8).double()
    sine, cosine = torch.sin(k * frequency), torch.cos(k * frequency)
    shifted_sine = table[:-k, 0::2] * cosine + table[:-k, 1::2] * sine
    shifted_cosine = table[:-k, 1::2] * cosine - table[:-k, 0::2] * sine
    torch.testing.assert_close(table[k:, 0::2], shifted_sine, atol=1e-6, rtol=0)
    torch.testing.assert_close(table[k:, 1::2], shifted_cosine, atol=1e-6, rtol=0)
