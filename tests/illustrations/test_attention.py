"""Attention maps of small models with random or hand-set weights."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from aiayn.config import Model
from aiayn.data.tokens.special import END, START
from aiayn.illustrations.attention import attention_maps, head_statistics
from aiayn.model.layers import EncoderLayer
from aiayn.model.transformer import Transformer

SOURCE, TARGET = [7, 8, 9, 10, END], [START, 11, 12]


@pytest.fixture
def model(tiny: Callable[..., Model]) -> Transformer:
    torch.manual_seed(3)
    return Transformer(tiny(), 20, max_length=16).eval()


def test_weights_of_a_query_sum_to_one(model: Transformer) -> None:
    maps = attention_maps(model, SOURCE, TARGET)
    assert {kind: tuple(weights.shape) for kind, weights in maps.items()} == {
        "encoder": (2, 2, 5, 5),
        "decoder": (2, 2, 3, 3),
        "cross": (2, 2, 3, 5),
    }
    for weights in maps.values():
        assert weights.min() >= 0
        torch.testing.assert_close(weights.sum(dim=3), torch.ones(weights.shape[:3]))


def test_the_decoder_attends_to_no_later_position(model: Transformer) -> None:
    decoder = attention_maps(model, SOURCE, TARGET)["decoder"]
    assert torch.equal(decoder, decoder.tril())
    assert torch.equal(decoder[:, :, 0, 0], torch.ones(2, 2))


@pytest.mark.parametrize("neighbourhood", [None, 3])
@torch.inference_mode()
def test_the_weights_are_those_that_the_model_uses(
    tiny: Callable[..., Model], neighbourhood: int | None
) -> None:
    """Values weighted by the map equal the output of the layer's own attention."""
    torch.manual_seed(3)
    model = Transformer(tiny(neighbourhood=neighbourhood), 20, max_length=16).eval()
    layer = model.encoder[0]
    assert isinstance(layer, EncoderLayer)
    attention = layer.self_attention
    x = model.embedding[torch.tensor([SOURCE])] * model.scale
    x = x + model.source_positions(0, len(SOURCE))
    queries, attended = attention.queries_keys_values(x)
    weights: Tensor = attention_maps(model, SOURCE, TARGET)["encoder"][:1]
    by_hand = attention.w_o((weights @ attended.values_BHSV).transpose(1, 2).flatten(2))
    torch.testing.assert_close(by_hand, attention.attend(queries, attended))


def test_recording_does_not_change_the_model(model: Transformer) -> None:
    source, target = torch.tensor([SOURCE]), torch.tensor([TARGET])
    with torch.inference_mode():
        before = model(source, target)
        attention_maps(model, SOURCE, TARGET)
        assert torch.equal(model(source, target), before)
    assert not [m for m in model.modules() if "attend" in vars(m)]


def test_uniform_attention_has_the_maximum_entropy(model: Transformer) -> None:
    """Zero queries make all scores equal: log2 of the number of keys, and the mean distance."""
    for name, parameter in model.named_parameters():
        if name.endswith("w_q.weight"):
            torch.nn.init.zeros_(parameter)
    table = head_statistics(model, [(SOURCE, TARGET)])
    assert len(table) == 3 * 2 * 2
    columns = ("attention", "distance", "entropy")
    found = {kind: (mean, bits) for kind, mean, bits in zip(*map(table.get, columns), strict=True)}
    distance = sum(abs(q - k) for q in range(5) for k in range(5)) / 25
    assert found["encoder"] == pytest.approx((distance, math.log2(5)), abs=1e-3)
    # over the first t positions each: means over t = 1, 2, 3
    assert found["decoder"] == pytest.approx(
        ((0 + 0.5 + 1) / 3, (0 + 1 + math.log2(3)) / 3), abs=1e-3
    )
    assert math.isnan(found["cross"][0])
    assert found["cross"][1] == pytest.approx(math.log2(5), abs=1e-3)
