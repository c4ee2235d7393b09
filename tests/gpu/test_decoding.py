"""Beam search and attention maps on a GPU equal those on the CPU."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from tests.gpu.conftest import Gpu
from tests.gpu.small import CPU, PIECES, SMALL, rows_of_wmt14

from aiayn.config import Decoding
from aiayn.decoding.beam import beam_search
from aiayn.illustrations.attention import attention_maps, encoder_map
from aiayn.model.classifier import Classifier
from aiayn.model.transformer import Transformer

ROWS = {**rows_of_wmt14(), "neighbourhood": SMALL.replace(neighbourhood=4)}


def sentences(number: int) -> list[list[int]]:
    random = np.random.default_rng(0)
    return [
        [*random.integers(4, PIECES, random.integers(1, 14)).tolist(), 3] for _ in range(number)
    ]


def model_of(name: str) -> Transformer:
    torch.manual_seed(0)
    return Transformer(ROWS[name], PIECES, max_length=12).eval()


@pytest.mark.parametrize("name", ROWS)
def test_beam_search(gpu: Gpu, name: str) -> None:
    """Some sources are longer than the table of positions."""
    search = Decoding(beam=3, alpha=0.6, extra_length=4)
    sources, model = sentences(6), model_of(name)
    expected = beam_search(copy.deepcopy(model), sources, search, CPU)
    device = gpu.open("float32")
    found = beam_search(model.to(device.device), sources, search, device)
    assert [hypothesis.pieces for hypothesis in found] == [
        hypothesis.pieces for hypothesis in expected
    ]
    assert [hypothesis.score for hypothesis in found] == pytest.approx(
        [hypothesis.score for hypothesis in expected], rel=1e-5
    )


@pytest.mark.parametrize("name", ["base", "E_learned", "neighbourhood"])
def test_attention_maps(gpu: Gpu, name: str) -> None:
    source, target = [*range(5, 25), 3], [2, *range(8, 30)]
    model = model_of(name)
    expected = attention_maps(copy.deepcopy(model), source, target)
    found = attention_maps(model.to(gpu.open("float32").device), source, target)
    for kind, maps in expected.items():
        assert found[kind].device.type == "cpu"
        torch.testing.assert_close(found[kind], maps)


def test_a_classifier(gpu: Gpu) -> None:
    torch.manual_seed(0)
    model = Classifier(SMALL, PIECES, labels=3, max_length=12).eval()
    source = [*range(5, 25), 3]
    with torch.no_grad():
        expected, maps = model(torch.tensor([source])), encoder_map(copy.deepcopy(model), source)
    device = gpu.open("float32").device
    model.to(device)
    with torch.no_grad():
        found = model(torch.tensor([source], device=device))
    torch.testing.assert_close(found.cpu(), expected)
    torch.testing.assert_close(encoder_map(model, source), maps)
