"""The implementations that the decoding benchmark compares have equal results."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from benchmarks.decoding import plain_search
from benchmarks.widening import widened

from aiayn.config import Decoding, Model
from aiayn.data.tokens.special import END
from aiayn.decoding.beam import beam_search
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer

Row = Callable[..., Model]


@pytest.fixture
def model(tiny: Row) -> Transformer:
    torch.manual_seed(3)
    model = Transformer(tiny(), 40, max_length=64).eval()
    with torch.no_grad():
        model.embedding.mul_(2)
        model.embedding[END] *= -1
    return model


def test_the_plain_path_finds_the_same(model: Transformer) -> None:
    decoding = Decoding(beam=4, alpha=0.6, extra_length=20)
    lengths = (7, 2, 12, 4, 9, 1)
    sources = [[*torch.randint(4, 40, (length,)).tolist(), END] for length in lengths]
    found = beam_search(model, sources, decoding, Device(torch.device("cpu"), "float32"))
    assert plain_search(model, sources, decoding) == [h.pieces for h in found]
    assert len({len(h.pieces) for h in found}) > 2


@pytest.mark.slow
def test_a_widened_model_computes_the_same(model: Transformer, tiny: Row) -> None:
    wide, row = widened(model, tiny(), 3)
    assert row.d_model == 3 * tiny().d_model
    source, target = torch.randint(4, 40, (2, 6)), torch.randint(4, 40, (2, 5))
    with torch.no_grad():
        expected, found = model(source, target), wide(source, target)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
