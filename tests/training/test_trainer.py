"""A step is the mean over a global batch, however it is split; jobs that differ have different
fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aiayn.errors import ConfigError, DataError
from aiayn.model.device import Device
from aiayn.training.job import Job
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

Make = Callable[..., Trainer]
CPU = Device(torch.device("cpu"), "float32")


def test_a_step_is_adam_on_the_mean_loss(make_trainer: Make) -> None:
    """The same step by torch's own cross_entropy and Adam over the whole global batch."""
    trainer = make_trainer(P_drop=0.0)
    reference = make_trainer(P_drop=0.0).model
    losses, tokens = torch.zeros(()), 0
    for micro in trainer.plan.step(0):
        source, target = trainer.tensors(trainer.train_arrays, micro)
        shifted = torch.cat((torch.full((len(target), 1), 2), target[:, :-1]), dim=1)
        logits = reference(source, shifted)
        losses = losses + torch.nn.functional.cross_entropy(
            logits.flatten(0, 1),
            target.flatten(),
            ignore_index=0,
            label_smoothing=0.1,
            reduction="sum",
        )
        tokens += int((target != 0).sum())
    parameters = list(reference.parameters())
    for parameter in parameters:  # separate from the trainer's flat vector
        parameter.grad = None
    (losses / tokens).backward()
    rate = 16**-0.5 * 20**-1.5
    torch.optim.Adam(parameters, lr=rate, betas=(0.9, 0.98), eps=1e-9).step()
    trainer.step()
    assert trainer.tokens == tokens
    # Adam's first step is the rate times the sign of the gradient: compare where that is not noise
    for (name, ours), theirs in zip(trainer.model.named_parameters(), parameters, strict=True):
        clear = theirs.grad.abs() > 1e-6
        torch.testing.assert_close(ours[clear], theirs[clear], atol=1e-6, rtol=1e-5, msg=name)


def test_validation_is_the_mean_over_real_tokens(make_trainer: Make) -> None:
    trainer = make_trainer()
    total = torch.zeros(())
    count = 0
    trainer.model.eval()
    with torch.no_grad():
        for n in range(len(trainer.dev_arrays)):
            source, target = (
                torch.tensor(side.astype("int64")) for side in trainer.dev_arrays.pair(n)
            )
            shifted = torch.cat((torch.tensor([2]), target[:-1]))
            logits = trainer.model(source[None], shifted[None])
            total += torch.nn.functional.cross_entropy(logits[0], target, reduction="sum")
            count += len(target)
    assert trainer.validate() == pytest.approx(total.item() / count, rel=1e-5)


def test_dropout_differs_between_steps_and_micro_batches(make_trainer: Make) -> None:
    from aiayn.training.trainer import _seed

    assert len({_seed(1, step, micro) for step in range(20) for micro in range(8)}) == 160


def test_processes_share_all_work() -> None:
    for count in (1, 2, 3, 8):
        shares = [n for rank in range(count) for n in Processes(rank, count).share(8)]
        assert sorted(shares) == list(range(8))
    with pytest.raises(ConfigError, match="micro_batches is 8, too few for 9 processes"):
        Processes(0, 9).check_share(8)


def test_fingerprint(make_trainer: Make) -> None:
    job = make_trainer().job
    other_model = replace(job, model=job.model.replace(P_drop=0.2))
    other_training = replace(job, training=job.training.replace(warmup_steps=21))
    others = [other_model, other_training, replace(job, seed=2), replace(job, tokens_digest="x")]
    fingerprints = {j.fingerprint(CPU) for j in (job, *others)}
    assert len(fingerprints) == 5
    assert job.fingerprint(Device(torch.device("cpu"), "bfloat16")) not in fingerprints


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setattr(torch, "__version__", "2.11.0+cu130"),
        lambda patch: patch.setattr(np, "__version__", "1.26.0"),
        lambda patch: patch.setattr(torch, "get_float32_matmul_precision", lambda: "another"),
        lambda patch: patch.setattr("aiayn.model.device.cpu_name", lambda: "another CPU"),
        lambda patch: patch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "another"),
        lambda patch: patch.setattr(torch, "get_num_threads", lambda: 77),
    ],
    ids=["torch", "numpy", "products", "CPU", "instructions", "threads"],
)
def test_software_and_hardware_are_part_of_the_fingerprint(
    make_trainer: Make, monkeypatch: pytest.MonkeyPatch, change: Callable[[object], None]
) -> None:
    job = make_trainer().job
    before = job.fingerprint(CPU)
    change(monkeypatch)
    assert job.fingerprint(CPU) != before


def test_a_changed_line_is_part_of_the_fingerprint(make_trainer: Make) -> None:
    """The code digest comes from dvc.yaml's dependencies (tests/test_config.py)."""
    job = make_trainer().job
    changed = replace(job, code_digest="other")
    assert changed.fingerprint(CPU) != job.fingerprint(CPU)


def test_missing_tokens(tmp_path: Path, make_trainer: Make) -> None:
    job = make_trainer().job
    with pytest.raises(DataError, match="manifest.json: not there. Make it: dvc repro encode"):
        Job.of("x", "translation", job.model, job.training, 1, tmp_path, "code")


@pytest.mark.slow
def test_bfloat16_follows_float32(make_trainer: Make) -> None:
    """Autocast over float32 weights, as on a GPU: the same curve within a hundredth."""
    curves = []
    for precision in ("float32", "bfloat16"):
        trainer = make_trainer(P_drop=0.0, learning_rate_scale=0.2)
        trainer.device = Device(torch.device("cpu"), precision)
        for _ in range(30):
            trainer.step()
        curves.append([trainer.close_interval().mean_loss, trainer.validate()])
        assert trainer.flat.values.dtype == torch.float32
    assert curves[1] == pytest.approx(curves[0], rel=0.01)
    assert curves[1] != curves[0]
