"""Labels as a target: the loss by hand, the mean per sentence, and something that is learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from aiayn.config import Adam, Model, Training
from aiayn.data.tokens import label_pieces
from aiayn.data.tokens.arrays import Side, TokenArrays
from aiayn.errors import DataError
from aiayn.model.device import Device
from aiayn.training.job import Job
from aiayn.training.objectives import LABEL
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

SETTINGS = Training(
    batch_tokens=256, micro_batches=1, max_length=40, warmup_steps=20, learning_rate_scale=0.3,
    adam=Adam(beta1=0.9, beta2=0.98, epsilon=1e-9), validation_steps=4, log_steps=2,
)  # fmt: skip


def labelled(pairs: int, seed: int) -> TokenArrays:
    """Sentences of the pieces 10 to 19 with one of two labels: whether 10 comes before 11."""
    random = np.random.default_rng(seed)
    sources, targets = [], []
    for _ in range(pairs):
        first = int(random.integers(2))
        middle = random.integers(12, 20, random.integers(1, 6)).tolist()
        sources.append([10 + first, *middle, 11 - first, 3])
        targets.append([label_pieces.FIRST + first, 3])
    sides = []
    for rows in (sources, targets):
        offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
        sides.append(Side(np.concatenate(rows).astype(np.uint16), offsets))
    return TokenArrays(sides[0], sides[1], vocabulary=20)


def test_a_label_alone_is_the_target() -> None:
    arrays = labelled(50, 0)
    alone = label_pieces.labels_alone(arrays)
    assert (alone.lengths[1] == 1).all()
    assert len(alone) == 50
    assert [int(alone.pair(n)[1][0]) for n in range(50)] == [
        int(arrays.pair(n)[1][0]) for n in range(50)
    ]
    assert label_pieces.count(alone) == 2


def test_a_target_of_two_pieces_is_no_label() -> None:
    arrays = labelled(5, 0)
    wrong = replace(arrays, target=arrays.source)
    with pytest.raises(DataError, match="is not one label per sentence"):
        label_pieces.labels_alone(wrong)


def test_the_loss_is_cross_entropy_over_the_labels(tiny: Callable[..., Model]) -> None:
    """By the formula of section 5.4: 1 - eps on the right one, eps / 3 on each of the three."""
    logits = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.0, 3.0], [9.0, 9.0, 9.0]])
    target = torch.tensor(
        [[label_pieces.FIRST + 1], [label_pieces.FIRST], [0]]
    )  # the last is padding

    def model(source: Any) -> torch.Tensor:
        return logits

    loss, nll = LABEL.losses(model, torch.zeros(3, 1), target, 0.3)  # type: ignore[arg-type]
    log_p = [[value - np.log(sum(np.exp(row))) for value in row] for row in logits[:2].tolist()]
    assert float(nll) == pytest.approx(-log_p[0][1] - log_p[1][0], abs=1e-5)
    smoothed = -0.7 * (log_p[0][1] + log_p[1][0]) - 0.1 * (sum(log_p[0]) + sum(log_p[1]))
    assert float(loss) == pytest.approx(smoothed, abs=1e-5)


def test_order_is_learned(tiny: Callable[..., Model]) -> None:
    """A bag of words could not learn this: the pieces of both labels are the same."""
    row = tiny(P_drop=0.0, eps_ls=0.0, steps=60)
    job = Job("order.tiny", "classification", row, SETTINGS, 1, "tokens", "code")
    device = Device(torch.device("cpu"), "float32")
    trainer = Trainer(job, labelled(400, 0), labelled(50, 1), device, Processes())
    assert trainer.validate() == pytest.approx(np.log(2), abs=0.3)  # nats a sentence
    for _ in range(60):
        trainer.step()
    assert trainer.tokens > 0
    assert trainer.validate() < 0.1
