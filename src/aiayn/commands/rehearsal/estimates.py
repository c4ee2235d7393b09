"""Estimates of the memory, disk space and FLOPs of a scale's real run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch

from aiayn.config import Config, Model
from aiayn.model.transformer import Transformer
from aiayn.paper.corpora import WMT14_EN_DE, WMT14_EN_FR
from aiayn.profiling.clocks import LiveBytes
from aiayn.profiling.models import TRAINING_TO_FORWARD, ForwardFlops, on_meta

FLOAT32 = 4  # bytes

# bytes per sentence pair, both sides, in WMT's news tests of 2008 to 2012: text, and piece ids
TEXT_BYTES, TOKEN_BYTES = 280, 140


@dataclass(frozen=True)
class RunEstimate:
    """Requirements of a run's training: `disk_bytes` are permanent, including DVC's copy,
    `scratch_bytes` are temporary."""

    run: str
    parameters: int
    flops: int
    disk_bytes: int
    scratch_bytes: int

    @property
    def state_bytes(self) -> int:
        """Memory of a process without activations: weights, gradients and Adam's two moments."""
        return 4 * FLOAT32 * self.parameters


def estimate_runs(params: Config) -> list[RunEstimate]:
    """The estimate of every run; models are built in real size on the meta device."""
    found = []
    for name, run in params.runs.items():
        row, task = params.model_of(name), params.task(run.task)
        vocabulary, labels = task.bpe.vocabulary, len(task.text.labels or ())
        # parameters of the training do not affect the model
        shape = row.replace(P_drop=0.0, eps_ls=0.0, steps=1, average=1, checkpoint_steps=1)
        parameters = _count_parameters(shape, vocabulary, params.training.max_length, labels)
        weight_files = row.average + (name in params.tested)
        found.append(
            RunEstimate(
                run=name,
                parameters=parameters,
                flops=row.steps * _step_flops(params, row, vocabulary, labels),
                disk_bytes=2 * FLOAT32 * parameters * weight_files,
                # the last checkpoints and two resume states: the new one is written before the old
                # one is deleted
                scratch_bytes=FLOAT32 * parameters * (row.average + 2 * 3),
            )
        )
    return found


def activation_bytes(params: Config, run: str) -> int:
    """Peak bytes of live activations in a step of a real micro-batch, counted on the meta device.

    The logits are left out, because training computes them in chunks. A classifier is counted with
    a decoder, which overestimates it.
    """
    vocabulary, length = params.task_of(run).bpe.vocabulary, params.profiling.sentence_pieces
    model = on_meta(params.model_of(run), vocabulary, params.training.max_length, labels=0)
    assert isinstance(model, Transformer)
    tokens = params.training.batch_tokens // params.training.micro_batches
    with torch.device("meta"):
        pieces = torch.zeros(max(1, tokens // length), length, dtype=torch.long)
    for parameter in model.parameters():  # as in training, gradients are already allocated
        parameter.grad = torch.zeros_like(parameter)
    with LiveBytes() as live:
        model.states(pieces, pieces).sum().backward()  # type: ignore[no-untyped-call]
    return int(live.peak)


def text_bytes(params: Config, task: str) -> int | None:
    """Disk space of a task's text and tokens, including DVC's copy; None unless the downloads are
    the paper's, whose numbers of pairs are published."""
    text = params.task(task).text
    checksums = {
        params.catalogue.downloads[side.download].checksum
        for name in text.train
        for side in (params.catalogue.corpora[name].sides or {}).values()
        if side.download
    }
    for published in (WMT14_EN_DE, WMT14_EN_FR):
        if checksums == {archive.checksum for archive in published.archives}:
            return 2 * (TEXT_BYTES + TOKEN_BYTES) * sum(published.corpora.values())
    return None


@cache
def _count_parameters(model: Model, vocabulary: int, max_length: int, labels: int) -> int:
    built = on_meta(model, vocabulary, max_length, labels)
    return sum(parameter.numel() for parameter in built.parameters())


def _step_flops(params: Config, model: Model, vocabulary: int, labels: int) -> int:
    length = params.profiling.sentence_pieces
    target = 1 if labels else length
    pairs = 2 * params.training.batch_tokens // (length + target)
    forward = ForwardFlops.of(model, vocabulary, labels).pair(length, target)
    return TRAINING_TO_FORWARD * pairs * forward
