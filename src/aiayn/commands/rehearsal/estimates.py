"""What the real run of a scale needs, counted: memory, disk and FLOPs."""

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

# of a pair of WMT's news tests of 2008 to 2012, both sides, in bytes: text, and arrays of piece ids
TEXT_BYTES, TOKEN_BYTES = 280, 140


@dataclass(frozen=True)
class RunEstimate:
    """What the training of a run needs: `disk_bytes` stay, DVC's copy included, `scratch_bytes` are
    there while it trains."""

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
    """Of every run; its model is built in real size, without memory."""
    found = []
    for name, run in params.runs.items():
        row, task = params.model_of(name), params.task(run.task)
        vocabulary, labels = task.bpe.vocabulary, len(task.text.labels or ())
        # fields of the training alone make no other model
        shape = row.replace(P_drop=0.0, eps_ls=0.0, steps=1, average=1, checkpoint_steps=1)
        parameters = _count_parameters(shape, vocabulary, params.training.max_length, labels)
        weight_files = row.average + (name in params.tested)
        found.append(
            RunEstimate(
                run=name,
                parameters=parameters,
                flops=row.steps * _step_flops(params, row, vocabulary, labels),
                disk_bytes=2 * FLOAT32 * parameters * weight_files,
                # the last checkpoints, and two states to resume from: one is written before the
                # other is deleted
                scratch_bytes=FLOAT32 * parameters * (row.average + 2 * 3),
            )
        )
    return found


def activation_bytes(params: Config, run: str) -> int:
    """The most that is alive at once in a step of a real micro-batch, counted without memory.

    The logits are left out: training computes them in pieces. A classifier is counted with a
    decoder, which is more than it needs.
    """
    vocabulary, length = params.task_of(run).bpe.vocabulary, params.profiling.sentence_pieces
    model = on_meta(params.model_of(run), vocabulary, params.training.max_length, labels=0)
    assert isinstance(model, Transformer)
    with torch.device("meta"):
        pieces = torch.zeros(_micro_batch_pairs(params), length, dtype=torch.long)
    for parameter in model.parameters():  # as in training, gradients are there before the step
        parameter.grad = torch.zeros_like(parameter)
    with LiveBytes() as live:
        model.states(pieces, pieces).sum().backward()  # type: ignore[no-untyped-call]
    return int(live.peak)


def text_bytes(params: Config, task: str) -> int | None:
    """Disk for a task's text and tokens, DVC's copy included, if its downloads are those of the
    paper, whose numbers of pairs are published; None for other tasks."""
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


def _micro_batch_pairs(params: Config) -> int:
    tokens = params.training.batch_tokens // params.training.micro_batches
    return max(1, tokens // params.profiling.sentence_pieces)


def _step_flops(params: Config, model: Model, vocabulary: int, labels: int) -> int:
    length = params.profiling.sentence_pieces
    target = 1 if labels else length
    pairs = 2 * params.training.batch_tokens // (length + target)
    forward = ForwardFlops.of(model, vocabulary, labels).pair(length, target)
    return TRAINING_TO_FORWARD * pairs * forward
