"""What a GPU would refuse, or be slow at, is noticed on a pretended one: planted faults, and a budget."""

from __future__ import annotations

import pytest
import torch
from tests.gpu.conftest import Gpu
from tests.gpu.pretended_gpu import recorded
from tests.gpu.small import deep_as_base, trainer, without_own_kernels

from aiayn.model import masks
from aiayn.model.positions import SinusoidalPositions, sinusoids
from aiayn.training import loss
from aiayn.training.trainer import Trainer

# of a step of base with one micro-batch, as each of eight GPUs has: by torch's kernels, and with the
# project's own. A change that needs more says why
KERNELS_OF_BASE, WITH_OWN = 1260, 645


def kernels(training: Trainer) -> int:
    """Of a step that is not the first."""
    training.step()
    with recorded() as record:
        training.step()
    return record.kernels


@pytest.mark.parametrize(("own", "budget"), [(False, KERNELS_OF_BASE), (True, WITH_OWN)])
def test_kernels_of_a_step(
    pretended: Gpu, own: bool, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model as deep as base: width and lengths do not change their number."""
    if not own:
        without_own_kernels(monkeypatch)
    found = kernels(trainer(pretended.open("bfloat16"), deep_as_base()))
    assert found <= budget
    assert found > 0.97 * budget, "so few: lower the budget"


def test_a_table_that_grows_on_the_cpu(pretended: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def forward(self: SinusoidalPositions, first: int, length: int) -> torch.Tensor:
        if first + length > 2:
            self.table = sinusoids(2 * (first + length), self.table.shape[1])
        return self.table[first : first + length]

    monkeypatch.setattr(SinusoidalPositions, "forward", forward)
    with pytest.raises(RuntimeError, match="found cuda:0 and cpu"):
        trainer(pretended.open("float32")).step()


def test_a_mask_of_the_cpu(pretended: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    may_attend = masks.may_attend_to_real
    monkeypatch.setattr(masks, "may_attend_to_real", lambda is_real: may_attend(is_real).cpu())
    with pytest.raises(RuntimeError, match="found cuda:0 and cpu"):
        trainer(pretended.open("bfloat16")).step()


def test_a_loss_that_is_read_in_every_step(pretended: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    training = trainer(pretended.open("float32"))
    computed = training._losses

    def read(*args: object) -> tuple[torch.Tensor, torch.Tensor]:
        found = computed(*args)  # type: ignore[arg-type]
        assert float(found[0].detach()) > 0
        return found

    monkeypatch.setattr(training, "_losses", read)
    with recorded() as record:
        training.step()
    assert dict(record.waits) == {"_local_scalar_dense": 1}


def test_a_batch_that_is_not_pinned(pretended: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    training = trainer(pretended.open("float32"))
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self)
    with recorded() as record:
        training.step()
    assert dict(record.waits) == {"_to_copy to the GPU": 2}


def test_a_scatter_in_the_loss(pretended: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def scattered(
        p: torch.Tensor, targets: torch.Tensor, mass: float, dtype: torch.dtype
    ) -> torch.Tensor:
        return p.scatter_add_(1, targets, p.new_full(targets.shape, -mass)).to(dtype)

    monkeypatch.setattr(loss, "_minus_target", scattered)
    without_own_kernels(monkeypatch)
    assert kernels(trainer(pretended.open("bfloat16"), deep_as_base())) > KERNELS_OF_BASE
