"""Training on a GPU: the CPU's losses, no waiting within a step, exact resume, reproducible bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from tests.gpu.conftest import Gpu
from tests.gpu.small import (
    CPU,
    SMALL,
    TRAINING,
    disable_own_kernels,
    labelled,
    losses,
    rows_of_wmt14,
    trainer,
)
from torch.nn.functional import cross_entropy

from aiayn.training.gpu import buckets, layers
from aiayn.training.gpu.layers import FusedDropout, FusedResidual
from aiayn.training.job import Job
from aiayn.training.loss import smoothed_cross_entropy
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer, _seed


def values(training: Trainer) -> torch.Tensor:
    return training.flat.values.detach().cpu()


def test_twenty_steps_have_the_losses_of_the_cpu(gpu: Gpu) -> None:
    device = gpu.open("float32")
    expected = pytest.approx(losses(trainer(CPU), 20), rel=gpu.tolerance)
    assert losses(trainer(device), 20) == expected


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("name", rows_of_wmt14())
def test_every_row_of_wmt14_trains(
    gpu: Gpu, name: str, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the attention kernels that a GPU uses for its heads; otherwise with the project's own kernels
    or with torch's alone."""
    if not own:
        disable_own_kernels(monkeypatch)
    row = rows_of_wmt14()[name]
    expected = losses(trainer(CPU, row), 2)
    assert losses(trainer(gpu.open("float32"), row), 2) == pytest.approx(
        expected, rel=gpu.tolerance
    )
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
    """Compared with torch's own on the CPU, including rows of padding."""
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
    with gpu.waiting_forbidden():
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
def test_training_again_gives_the_same_bits(gpu: Gpu, precision: str) -> None:
    row = SMALL.replace(P_drop=0.1, h=2, d_k=64, d_v=64)
    runs = [trainer(gpu.open(precision), row) for _ in range(2)]
    for training in runs:
        for _ in range(5):
            training.step()
    assert torch.equal(*map(values, runs))


def gradients(training: Trainer) -> dict[str, torch.Tensor]:
    """The gradients of the first step."""
    training.step()
    return {n: p.grad.cpu().clone() for n, p in training.model.named_parameters()}


COLUMNS = [
    {}, {"positions": "learned"}, {"neighbourhood": 3}, {"d_k": 4, "d_v": 16},
    {"norm": "pre", "positions": "none"}, {"attention": "additive"}, {"attention": "sigmoid"},
]  # fmt: skip


@pytest.mark.parametrize("columns", COLUMNS)
def test_own_kernels_have_the_gradients_of_torchs(
    gpu: Gpu, columns: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every parameter, over two micro-batches; about as close to float32's as torch's in bfloat16."""
    row = SMALL.replace(d_model=64, d_ff=96, **columns)
    own = gradients(trainer(gpu.open("bfloat16"), row, micro_batches=2))
    disable_own_kernels(monkeypatch)
    torchs = gradients(trainer(gpu.open("bfloat16"), row, micro_batches=2))
    exact = gradients(trainer(CPU, row, micro_batches=2))
    assert own.keys() == torchs.keys() == exact.keys()
    for name, expected in exact.items():
        theirs, ours = (
            (found[name] - expected).norm() / expected.norm() for found in (torchs, own)
        )
        assert ours < max(1.5 * float(theirs), 0.004), name


@pytest.mark.parametrize("columns", COLUMNS)
def test_own_kernels_have_equal_gradients(
    simulated: Gpu, columns: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without rounding: here, the replacements of the kernels compute in float32."""
    monkeypatch.setattr(layers, "ROUNDED", torch.float32)
    monkeypatch.setattr("aiayn.training.trainer.usable_triton", lambda *_: "simulated")
    row = SMALL.replace(d_model=64, d_ff=96, **columns)
    own = gradients(trainer(simulated.open("float32"), row, micro_batches=2))
    disable_own_kernels(monkeypatch)
    for name, expected in gradients(trainer(CPU, row, micro_batches=2)).items():
        assert (own[name] - expected).norm() < 1e-5 * expected.norm(), name


def test_own_kernels_train_a_classifier(gpu: Gpu) -> None:
    job = Job("x.small", "classification", SMALL, TRAINING, 1, "tokens", "code")
    found = [
        losses(Trainer(job, labelled(40), labelled(8), device, Processes()), 4)
        for device in (CPU, gpu.open("bfloat16"))
    ]
    assert found[1] == pytest.approx(found[0], rel=0.02)


def test_dropout_draws_by_seed_step_and_micro_batch(gpu: Gpu) -> None:
    """Each module has its own stream; processes that share a step draw the same numbers."""
    row = SMALL.replace(P_drop=0.3)
    training = trainer(gpu.open("bfloat16"), row, micro_batches=2)
    training.step()
    assert training.kernels is not None
    assert training.kernels.stream_1.tolist() == [_seed(training.job.seed, 0, 1)]
    sites = [
        m.site for m in training.model.modules() if isinstance(m, FusedResidual | FusedDropout)
    ]
    assert len({*sites}) == len(sites) > 10
    whole = training.flat.sums.cpu()
    parts = [
        trainer(gpu.open("bfloat16"), row, OneOfSeveral(n, 2), micro_batches=2) for n in (0, 1)
    ]
    for part in parts:
        part.step()
    first, second = (part.flat.sums.cpu()[: len(whole) - 2] for part in parts)
    torch.testing.assert_close(first + second, whole[:-2], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "columns", [{}, {"positions": "learned"}, {"norm": "pre"}, {"attention": "additive"}]
)
@pytest.mark.parametrize("micro_batches", [2, 5])
def test_sums_begin_when_gradients_are_complete(
    gpu: Gpu, columns: dict[str, object], micro_batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every element is summed once, from the last to the first, and does not change after its sum has begun.
    All sums but the embedding's begin inside the backward pass, unless they wait for a gradient without a kernel."""
    monkeypatch.setattr(buckets, "MIN_ELEMENTS", 1000)
    part = OneOfSeveral(0, 2)
    training = trainer(
        gpu.open("bfloat16"), SMALL.replace(**columns), part, micro_batches=micro_batches
    )
    training.step()
    part.started_sums.clear()
    assert training.buckets is not None
    finish, inside = training.buckets.finish, 0

    def counted_finish() -> None:
        nonlocal inside
        inside = len(part.started_sums)
        finish()

    monkeypatch.setattr(training.buckets, "finish", counted_finish)
    training.graphs = None  # in which the sums follow
    training.step()
    final, size = training.flat.sums.cpu(), len(training.flat.sums)
    counts, embedding = torch.zeros(size), training.model.embedding.numel()
    for begin, contents in part.started_sums:
        counts[begin : begin + len(contents)] += 1
        assert torch.equal(contents, final[begin : begin + len(contents)]), begin
    assert torch.equal(counts[:-2], torch.ones(size - 2))
    assert not counts[-2:].any(), "exchanged separately"
    order = [begin for begin, _ in part.started_sums]
    assert len(order) > 5
    assert len(part.started_sums[-1][1]) == embedding
    assert order == sorted(order, reverse=True), "all processes begin them in this order"
    if "norm" not in columns and "attention" not in columns:
        assert inside == len(order) - 1 - ("positions" in columns)


def test_a_gradient_completed_twice_is_an_error(simulated: Gpu) -> None:
    training = trainer(simulated.open("bfloat16"), SMALL, OneOfSeveral(0, 2), micro_batches=2)
    assert training.buckets is not None
    training.buckets.begin()
    norm = training.model.encoder[0].feed_forward_residual.norm.weight
    norm.completed()
    with pytest.raises(AssertionError, match="twice"):
        [norm.completed() for _ in range(100)]


@dataclass(frozen=True)
class OneOfSeveral(Processes):
    """One of several processes, without the others.

    started_sums: offset and contents of each sum that has begun.
    """

    started_sums: list[tuple[int, torch.Tensor]] = field(default_factory=list)

    def add_up(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    def begin_to_add_up(self, tensor: torch.Tensor) -> Callable[[], None]:
        self.started_sums.append((int(tensor.storage_offset()), tensor.cpu().clone()))
        return lambda: None
