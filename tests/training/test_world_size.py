"""How many processes share the work does not matter, to the bit where that can be: each micro-batch
has the same pieces and the same dropout masks in any process; their sum has the same terms.

The promise for the weights is therefore: the same but for the order in which a sum of floats is added
up (test_processes.py trains twenty steps of it).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from aiayn.data.tokens.arrays import TokenArrays
from aiayn.model.dropout import Dropout
from aiayn.training.batching import MicroBatch
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

MICRO_BATCHES = 8


class Isolated(Processes):
    """One of several processes, isolated: the others' sums are not added to its own."""

    def add_up(self, tensor: Tensor) -> Tensor:
        return tensor


def first_step(make_trainer: Callable[..., Trainer], rank: int, count: int) -> tuple[Any, Tensor]:
    """One process's first step: pieces and dropout masks by micro-batch, and its sum of gradients."""
    processes = Isolated(rank, count)
    trainer = make_trainer(processes, micro_batches=MICRO_BATCHES, P_drop=0.3)
    seen: dict[int, list[bytes]] = {}
    numbers = iter(processes.share(MICRO_BATCHES))
    tensors = trainer.tensors

    def recording_tensors(arrays: TokenArrays, micro: MicroBatch) -> list[Tensor]:
        source_and_target = tensors(arrays, micro)
        seen[next(numbers)] = [ids.numpy().tobytes() for ids in source_and_target]
        return source_and_target

    def record_mask(module: object, inputs: tuple[Tensor], output: Tensor) -> None:
        assert bool((inputs[0] != 0).all())  # so a zero is the mask's
        [*seen.values()][-1].append((output != 0).numpy().tobytes())

    trainer.tensors = recording_tensors  # type: ignore[method-assign]
    dropouts = [module for module in trainer.model.modules() if isinstance(module, Dropout)]
    for module in dropouts:
        module.register_forward_hook(record_mask)
    trainer.step()
    assert all(len(recorded) == 2 + len(dropouts) for recorded in seen.values())
    return seen, trainer.flat.sums[: trainer.flat.values.numel()]


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_the_number_of_processes_does_not_matter(
    make_trainer: Callable[..., Trainer], count: int
) -> None:
    """Three cannot share eight evenly: two of them do three, one does two."""
    alone, gradient = first_step(make_trainer, 0, 1)
    assert sorted(alone) == [*range(MICRO_BATCHES)]
    assert len({recorded[2] for recorded in alone.values()}) == MICRO_BATCHES  # all masks differ
    together: dict[int, list[bytes]] = {}
    gradients = []
    for rank in range(count):
        share, partial_sum = first_step(make_trainer, rank, count)
        assert not share.keys() & together.keys()
        together |= share
        gradients.append(partial_sum)
    assert together == alone
    torch.testing.assert_close(torch.stack(gradients).sum(dim=0), gradient, rtol=1e-4, atol=1e-7)
