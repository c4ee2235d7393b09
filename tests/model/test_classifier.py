"""A sentence's label depends on its real positions alone, not on the rest of the batch."""

from __future__ import annotations

from collections.abc import Callable

import torch

from aiayn.config import Model
from aiayn.model.classifier import Classifier


def classifier(row: Model, labels: int = 3) -> Classifier:
    torch.manual_seed(1)
    return Classifier(row, 20, labels, max_length=8).eval()


@torch.inference_mode()
def test_the_mean_of_the_encoders_output_and_one_linear_layer(tiny: Callable[..., Model]) -> None:
    model = classifier(tiny())
    source = torch.tensor([[5, 6, 7, 3]])
    x_BSD, _ = model.read(source)
    expected = model.head.weight @ x_BSD[0].mean(dim=0) + model.head.bias
    torch.testing.assert_close(model(source)[0], expected)


@torch.inference_mode()
def test_padding_changes_no_logit(tiny: Callable[..., Model]) -> None:
    model = classifier(tiny())
    alone = model(torch.tensor([[5, 6, 3]]))
    batched = model(torch.tensor([[5, 6, 3, 0, 0, 0], [7, 8, 9, 10, 11, 3], [0] * 6]))
    torch.testing.assert_close(batched[:1], alone)
    assert batched.isfinite().all()  # including the row of padding


@torch.inference_mode()
def test_order_matters_through_positions_alone(tiny: Callable[..., Model]) -> None:
    model = classifier(tiny())
    sentence, reversed_sentence = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[7, 6, 5, 3]])
    assert not torch.allclose(model(sentence), model(reversed_sentence))
    model.source_positions.table.zero_()
    torch.testing.assert_close(model(sentence), model(reversed_sentence))


def test_parameter_names_and_shapes(
    tiny: Callable[..., Model],
) -> None:
    row = tiny(positions="learned")
    names = dict(classifier(row).named_parameters())
    assert names["head.weight"].shape == (3, row.d_model)
    assert names["source_positions.table"].shape == (8, row.d_model)
    assert not any(name.startswith(("decoder", "target")) for name in names)
