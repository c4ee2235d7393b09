"""A training small enough to repeat many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aiayn.compute.device import Device
from aiayn.compute.processes import Processes
from aiayn.config import Adam, Model, Training
from aiayn.tokens.arrays import Side, TokenArrays
from aiayn.training.job import Job
from aiayn.training.trainer import Trainer

SETTINGS = Training(
    batch_tokens=256, micro_batches=4, max_length=40, warmup_steps=20, learning_rate_scale=1.0,
    adam=Adam(beta1=0.9, beta2=0.98, epsilon=1e-9), validation_steps=4, log_steps=2,
)  # fmt: skip


def random_arrays(pairs: int, seed: int = 0) -> TokenArrays:
    """Pairs whose target is the source again: something that can be learned."""
    random = np.random.default_rng(seed)
    lengths = random.integers(2, 12, pairs)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    ids = random.integers(4, 30, offsets[-1], dtype=np.uint16)
    ids[offsets[1:] - 1] = 3
    return TokenArrays(Side(ids, offsets), Side(ids, offsets), vocabulary=30)


@pytest.fixture
def make_trainer(tiny: Callable[..., Model]) -> Callable[..., Trainer]:
    """A trainer at step 0, with any settings and columns of the model replaced."""

    def make(processes: Processes | None = None, **changes: object) -> Trainer:
        settings = {k: v for k, v in changes.items() if hasattr(SETTINGS, k)}
        columns = {k: v for k, v in changes.items() if k not in settings}
        training = replace(SETTINGS, **settings)  # type: ignore[arg-type]
        job = Job("en-de.tiny", tiny(**columns), training, 1, "tokens")
        device = Device(torch.device("cpu"), "float32")
        return Trainer(
            job, random_arrays(200), random_arrays(20, 1), device, processes or Processes()
        )

    return make


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Where a training keeps what it needs to go on."""
    return tmp_path / "scratch"
