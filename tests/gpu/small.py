"""Trainings small enough to run on a simulated GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from aiayn.config import Adam, Model, Training
from aiayn.data.tokens.arrays import Side, TokenArrays
from aiayn.model.device import Device
from aiayn.training.job import Job
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

SCALES = Path(__file__).resolve().parents[2] / "conf/scale"
PIECES = 60
TRAINING = Training(
    batch_tokens=256, micro_batches=1, max_length=32, warmup_steps=20, learning_rate_scale=1.0,
    adam=Adam(beta1=0.9, beta2=0.98, epsilon=1e-9), validation_steps=4, log_steps=2,
)  # fmt: skip
SMALL = Model(
    N=2, d_model=16, d_ff=32, h=2, d_k=8, d_v=8, P_drop=0.0, eps_ls=0.1, steps=8,
    positions="sinusoid", average=2, checkpoint_steps=3,
)  # fmt: skip
CPU = Device(torch.device("cpu"), "float32")


def pairs(number: int, seed: int) -> TokenArrays:
    """Random pieces; the target equals the source."""
    random = np.random.default_rng(seed)
    lengths = random.integers(2, 12, number)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    ids = random.integers(4, PIECES, offsets[-1], dtype=np.uint16)
    ids[offsets[1:] - 1] = 3
    return TokenArrays(Side(ids, offsets), Side(ids, offsets), vocabulary=PIECES)


def labelled(number: int) -> TokenArrays:
    """Sentences of five pieces, each with one of two labels."""
    offsets = np.arange(0, 6 * number + 1, 6)
    ids = np.random.default_rng(0).integers(6, PIECES, offsets[-1], dtype=np.uint16)
    ids[offsets[1:] - 1] = 3
    targets = np.tile(np.array([4, 3, 5, 3], np.uint16), number // 2)
    return TokenArrays(Side(ids, offsets), Side(targets, np.arange(0, 2 * number + 1, 2)), PIECES)


def trainer(
    device: Device,
    row: Model = SMALL,
    processes: Processes | None = None,
    *,
    with_graphs: bool = False,
    **settings: object,
) -> Trainer:
    """A trainer at step 0."""
    job = Job("en-de.small", "translation", row, TRAINING.replace(**settings), 1, "tokens", "code")
    created = Trainer(job, pairs(200, 0), pairs(20, 1), device, processes or Processes())
    if not with_graphs:
        created.graphs = None
    return created


def disable_own_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainers created from now on use torch's kernels alone."""
    monkeypatch.setattr("aiayn.training.trainer.usable_triton", lambda *_: None)


def losses(training: Trainer, steps: int) -> list[float]:
    """The loss of each step, then of dev."""
    values = []
    for _ in range(steps):
        training.step()
        values.append(training.close_interval().mean_loss)
    return [*values, training.validate()]


def rows_of_wmt14() -> dict[str, Model]:
    """One row for each kind of attention and positions in the paper's scales: true heads, d_k and
    d_v, in narrow models of one layer."""
    kinds: dict[tuple[object, ...], tuple[str, Model]] = {}
    for path in sorted(SCALES.glob("w*.yaml")):
        for name, row in yaml.safe_load(path.read_text())["models"].items():
            width = row["d_model"] // row["h"]
            d_k, d_v = row.get("d_k", width), row.get("d_v", width)
            kind = (row["h"], d_k, d_v, row["positions"])
            small = SMALL.replace(N=1, h=row["h"], d_k=d_k, d_v=d_v, positions=row["positions"])
            kinds.setdefault(kind, (name, small))
    return dict(kinds.values())


def deep_as_base() -> Model:
    """A narrow model with the layers, heads and dropout of the paper's base."""
    row = yaml.safe_load((SCALES / "wmt14_base.yaml").read_text())["models"]["base"]
    return SMALL.replace(N=row["N"], h=row["h"], d_k=64, d_v=64, P_drop=row["P_drop"])
