"""Metadata that may differ between identical trainings: time, host, speed, versions."""

from __future__ import annotations

import resource
import sys
from datetime import UTC, datetime

import torch

from aiayn.results.history import content
from aiayn.results.machine_metadata import this_machine
from aiayn.results.metadata import TrainingMetadata, md5
from aiayn.training.loop import Outcome
from aiayn.training.trainer import Trainer

RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes per unit of ru_maxrss


def training_metadata(trainer: Trainer, outcome: Outcome) -> TrainingMetadata:
    """Of a training that has just ended; seconds include earlier, interrupted starts."""
    device = trainer.device
    return TrainingMetadata(
        **vars(this_machine(device.device.type, device.gpu_name, device.instruction_set)),
        fingerprint=trainer.fingerprint,
        seconds=round(outcome.seconds, 2),
        validation_seconds=round(outcome.validation_seconds, 2),
        tokens_per_second=round(trainer.tokens / (outcome.seconds - outcome.validation_seconds)),
        starts=outcome.starts,
        started=outcome.started,
        ended=datetime.now(UTC).isoformat(timespec="seconds"),
        processes=trainer.processes.count,
        threads=torch.get_num_threads(),
        precision=device.precision,
        matmul=torch.get_float32_matmul_precision(),
        padding_share=round(trainer.plan.padding_share, 4),
        parameters=trainer.flat.values.numel(),
        history_md5=md5(content(outcome.curve)),
        peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT,
    )
