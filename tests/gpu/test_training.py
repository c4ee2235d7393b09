"""Training on a GPU: the CPU's numbers, no waiting within a step, exact resume, the same bits again."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.gpu.conftest import Gpu
from tests.gpu.small import CPU, SMALL, losses, rows_of_wmt14, trainer
from torch.nn.functional import cross_entropy

from aiayn.training.loss import smoothed_cross_entropy
from aiayn.training.trainer import Trainer


def values(training: Trainer) -> torch.Tensor:
    return training.flat.values.detach().cpu()


def test_twenty_steps_have_the_losses_of_the_cpu(gpu: Gpu) -> None:
    device = gpu.open("float32")
    expected = pytest.approx(losses(trainer(CPU), 20), rel=gpu.digits)
    assert losses(trainer(device), 20) == expected


@pytest.mark.parametrize("name", rows_of_wmt14())
def test_every_row_of_wmt14_trains(gpu: Gpu, name: str) -> None:
    """With the kernels of attention that a GPU takes for its heads."""
    row = rows_of_wmt14()[name]
    expected = losses(trainer(CPU, row), 2)
    assert losses(trainer(gpu.open("float32"), row), 2) == pytest.approx(expected, rel=gpu.digits)
    assert losses(trainer(gpu.open("bfloat16"), row), 2) == pytest.approx(expected, rel=0.02)


def test_the_rows_are_the_papers() -> None:
    widths = {(row.h, row.d_k, row.d_v) for row in rows_of_wmt14().values()}
    assert {
        (1, 512, 512),
        (32, 16, 16),
        (8, 16, 64),
        (8, 32, 64),
        (8, 64, 64),
        (16, 64, 64),
    } <= widths
    assert {row.positions for row in rows_of_wmt14().values()} == {"sinusoid", "learned"}


def test_the_loss_and_its_gradients(gpu: Gpu) -> None:
    """Against torch's own on the CPU, for a row of padding too."""
    torch.manual_seed(0)
    states, embedding = torch.randn(20, 8), torch.randn(61, 8)
    targets = torch.randint(1, 61, (20,))
    targets[[3, 4, 19]] = 0
    on_cpu = [x.clone().requires_grad_() for x in (states, embedding)]
    logits = on_cpu[0] @ on_cpu[1].T
    expected = cross_entropy(logits, targets, ignore_index=0, label_smoothing=0.1, reduction="sum")
    expected.backward()
    device = gpu.open("float32").device
    on_gpu = [x.to(device).requires_grad_() for x in (states, embedding)]
    x, matrix = on_gpu
    found, _ = smoothed_cross_entropy(x, matrix, targets.to(device), eps_ls=0.1, pad=0)
    found.backward()
    torch.testing.assert_close(found.detach().cpu(), expected.detach())
    for ours, theirs in zip(on_gpu, on_cpu, strict=True):
        torch.testing.assert_close(ours.grad.cpu(), theirs.grad)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_step_waits_for_nothing(gpu: Gpu, precision: str) -> None:
    training = trainer(gpu.open(precision), SMALL.replace(P_drop=0.1), micro_batches=2)
    training.step()
    with gpu.forbidden_to_wait():
        training.step()
        assert not training.should_stop


def test_resumed_to_the_same_bits(gpu: Gpu, tmp_path: Path) -> None:
    device, row = gpu.open("bfloat16"), SMALL.replace(P_drop=0.1)
    whole, state = trainer(device, row), tmp_path / "resume.safetensors"
    for _ in range(3):
        whole.step()
    whole.save_state(state, {"history": []})
    whole.save_weights(tmp_path / "weights.safetensors")
    whole.step()
    resumed = trainer(device, row)
    assert resumed.restore_state(state) == {"history": []}
    resumed.step()
    assert torch.equal(values(resumed), values(whole))
    assert whole.is_finite()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_same_bits_again(gpu: Gpu, precision: str) -> None:
    row = SMALL.replace(P_drop=0.1, h=2, d_k=64, d_v=64)
    runs = [trainer(gpu.open(precision), row) for _ in range(2)]
    for training in runs:
        for _ in range(5):
            training.step()
    assert torch.equal(*map(values, runs))
