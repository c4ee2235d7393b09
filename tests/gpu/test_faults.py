"""Faults that a GPU would reject, or be slow at, are detected on a simulated one; a budget of kernels."""

from __future__ import annotations

import pytest
import torch
from tests.gpu.conftest import Gpu
from tests.gpu.simulated_gpu import recorded
from tests.gpu.small import deep_as_base, disable_own_kernels, trainer

from aiayn.model import masks
from aiayn.model.positions import SinusoidalPositions, sinusoids
from aiayn.training import loss
from aiayn.training.trainer import Trainer

# kernels of a step of base with one micro-batch, as on each of eight GPUs: torch's alone, and with the
# project's own. A change that needs more must say why
TORCH_BUDGET, OWN_BUDGET = 1260, 645


def kernels(training: Trainer) -> int:
    """Kernels of a step that is not the first."""
    training.step()
    with recorded() as record:
        training.step()
    return record.kernels


@pytest.mark.parametrize(
    ("with_own_kernels", "budget"), [(False, TORCH_BUDGET), (True, OWN_BUDGET)]
)
def test_kernels_of_a_step(
    simulated: Gpu, with_own_kernels: bool, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a model as deep as base; width and lengths do not change the number."""
    if not with_own_kernels:
        disable_own_kernels(monkeypatch)
    found = kernels(trainer(simulated.open("bfloat16"), deep_as_base()))
    assert found <= budget
    assert found > 0.97 * budget, "the budget can be lowered"


def test_a_table_that_grows_on_the_cpu(simulated: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(self: SinusoidalPositions, first: int, length: int) -> torch.Tensor:
        if first + length > 2:
            self.table = sinusoids(2 * (first + length), self.table.shape[1])
        return self.table[first : first + length]

    monkeypatch.setattr(SinusoidalPositions, "forward", forward)
    with pytest.raises(RuntimeError, match="found cuda:0 and cpu"):
        trainer(simulated.open("float32")).step()


def test_a_mask_of_the_cpu(simulated: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    may_attend = masks.may_attend_to_real
    monkeypatch.setattr(masks, "may_attend_to_real", lambda is_real: may_attend(is_real).cpu())
    with pytest.raises(RuntimeError, match="found cuda:0 and cpu"):
        trainer(simulated.open("bfloat16")).step()


def test_a_loss_that_is_read_in_every_step(simulated: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    training = trainer(simulated.open("float32"))
    computed = training._losses

    def losses_with_read(*args: object) -> tuple[torch.Tensor, torch.Tensor]:
        found = computed(*args)  # type: ignore[arg-type]
        assert float(found[0].detach()) > 0
        return found

    monkeypatch.setattr(training, "_losses", losses_with_read)
    with recorded() as record:
        training.step()
    assert dict(record.waits) == {"_local_scalar_dense": 1}


def test_a_batch_that_is_not_pinned(simulated: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    training = trainer(simulated.open("float32"))
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self)
    with recorded() as record:
        training.step()
    assert dict(record.waits) == {"_to_copy to the GPU": 2}


def test_a_scatter_in_the_loss(simulated: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def scattered(
        p: torch.Tensor, targets: torch.Tensor, mass: float, dtype: torch.dtype
    ) -> torch.Tensor:
        return p.scatter_add_(1, targets, p.new_full(targets.shape, -mass)).to(dtype)

    monkeypatch.setattr(loss, "_minus_target", scattered)
    disable_own_kernels(monkeypatch)
    assert kernels(trainer(simulated.open("bfloat16"), deep_as_base())) > TORCH_BUDGET
