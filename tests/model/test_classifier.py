"""A sentence's label: by its real positions alone, whatever else stands in the batch."""

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
    wanted = model.head.weight @ x_BSD[0].mean(dim=0) + model.head.bias
    torch.testing.assert_close(model(source)[0], wanted)


@torch.inference_mode()
def test_padding_changes_no_logit(tiny: Callable[..., Model]) -> None:
    model = classifier(tiny())
    alone = model(torch.tensor([[5, 6, 3]]))
    beside = model(torch.tensor([[5, 6, 3, 0, 0, 0], [7, 8, 9, 10, 11, 3], [0] * 6]))
    torch.testing.assert_close(beside[:1], alone)
    assert beside.isfinite().all()  # the row that fills up a batch, too


@torch.inference_mode()
def test_order_counts_by_positions_alone(tiny: Callable[..., Model]) -> None:
    model = classifier(tiny())
    one, other = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[7, 6, 5, 3]])
    assert not torch.allclose(model(one), model(other))
    model.source_positions.table.zero_()
    torch.testing.assert_close(model(one), model(other))


def test_the_same_seed_the_same_encoder_shapes_as_a_transformer(
    tiny: Callable[..., Model],
) -> None:
    row = tiny(positions="learned")
    names = dict(classifier(row).named_parameters())
    assert names["head.weight"].shape == (3, row.d_model)
    assert names["source_positions.table"].shape == (8, row.d_model)
    assert not any(name.startswith(("decoder", "target")) for name in names)
