"""What the true run of a scale takes: memory, disk, time; counted, or measured here in one step."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from aiayn.config import Config, Model
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer
from aiayn.paper.corpora import WMT14_EN_DE, WMT14_EN_FR
from aiayn.profiling.clocks import LiveBytes
from aiayn.profiling.models import TRAINING_TO_FORWARD, ForwardFlops, on_meta

# weights, gradients and Adam's two moments, float32
STATE_BYTES = 4 * 4
CPU_PAIRS = 4  # of the step that is measured; a GPU is given a whole micro-batch
REPEATS = 2

# of a pair of WMT's news tests of 2008 to 2012, both sides: text; piece ids of two bytes, and where
# each sentence begins
TEXT_BYTES, TOKEN_BYTES = 280, 140


@dataclass(frozen=True)
class RunDemand:
    """What training one run takes.

    `state_bytes` is of each process, activations aside; `disk_bytes` what stays, in the project
    and, once more, in DVC's cache; `scratch_bytes` what is there while it trains.
    """

    run: str
    parameters: int
    state_bytes: int
    flops: int
    disk_bytes: int
    scratch_bytes: int


def demands(params: Config) -> list[RunDemand]:
    """Of every run, its model built in its true size and without memory."""
    sizes: dict[tuple[Model, int, int], int] = {}
    found = []
    for name, run in params.runs.items():
        model, vocabulary = params.model_of(name), params.task(run.task).bpe.vocabulary
        labels = len(params.task(run.task).text.labels or ())
        # rows that are trained differently are built alike
        shape = model.replace(P_drop=0.0, eps_ls=0.0, steps=1, average=1, checkpoint_steps=1)
        if (shape, vocabulary, labels) not in sizes:
            built = on_meta(shape, vocabulary, params.training.max_length, labels)
            sizes[shape, vocabulary, labels] = sum(p.numel() for p in built.parameters())
        parameters = sizes[shape, vocabulary, labels]
        files = model.average + (name in params.tested)
        found.append(
            RunDemand(
                run=name,
                parameters=parameters,
                state_bytes=STATE_BYTES * parameters,
                flops=model.steps * _step_flops(params, model, vocabulary, labels),
                disk_bytes=2 * 4 * parameters * files,
                # the last checkpoints and, one written before the other goes, the state to resume
                scratch_bytes=4 * parameters * (model.average + 2 * 3),
            )
        )
    return found


def activation_bytes(params: Config, run: str) -> int:
    """Of a micro-batch of true size: the most that is alive at once, logits aside, which training
    computes in pieces. Counted in a step without memory; of a run that labels, as if its model had
    a decoder too, which is more than it takes."""
    vocabulary = params.task_of(run).bpe.vocabulary
    length = params.profiling.sentence_pieces
    model = _on_meta(params, params.model_of(run), vocabulary)
    with torch.device("meta"):
        pieces = torch.zeros(_micro_pairs(params), length, dtype=torch.long)
    for parameter in model.parameters():  # as in training, they are there before the step
        parameter.grad = torch.zeros_like(parameter)
    with LiveBytes() as live:
        model.states(pieces, pieces).sum().backward()  # type: ignore[no-untyped-call]
    return int(live.peak)


def flops_per_second(params: Config, run: str, device: Device) -> float:
    """What this device does in a forward and backward pass of a run's model in true size."""
    vocabulary = params.task_of(run).bpe.vocabulary
    row, length = params.model_of(run), params.profiling.sentence_pieces
    pairs = _micro_pairs(params) if device.device.type == "cuda" else CPU_PAIRS
    torch.manual_seed(0)
    with torch.device(device.device):
        model = Transformer(row, vocabulary, max_length=params.training.max_length)
        pieces = torch.ones(pairs, length, dtype=torch.long)
    seconds = []
    for _ in range(1 + REPEATS):
        device.synchronize()
        begun = time.perf_counter()
        with device.autocast():
            loss = model(pieces, pieces).sum()
        loss.backward()
        device.synchronize()
        seconds.append(time.perf_counter() - begun)
    flops = TRAINING_TO_FORWARD * pairs * ForwardFlops.of(row, vocabulary).pair(length, length)
    return flops / min(seconds[1:])


def pairs_of(params: Config, task: str) -> int | None:
    """Training pairs of a task, where its downloads are the paper's; None: nobody declares them."""
    text = params.task(task).text
    checksums = {
        params.catalogue.downloads[side.download].checksum
        for name in text.train
        for side in (params.catalogue.corpora[name].sides or {}).values()
    }
    for published in (WMT14_EN_DE, WMT14_EN_FR):
        if checksums == {archive.checksum for archive in published.archives}:
            return sum(published.corpora.values())
    return None


def text_disk_bytes(pairs: int) -> int:
    """Text and tokens of so many pairs, in the project and once more in DVC's cache."""
    return 2 * (TEXT_BYTES + TOKEN_BYTES) * pairs


def _on_meta(params: Config, model: Model, vocabulary: int) -> Transformer:
    with torch.device("meta"):
        return Transformer(model, vocabulary, max_length=params.training.max_length)


def _micro_pairs(params: Config) -> int:
    recipe = params.training
    tokens = recipe.batch_tokens // recipe.micro_batches
    return max(1, tokens // params.profiling.sentence_pieces)


def _step_flops(params: Config, model: Model, vocabulary: int, labels: int) -> int:
    length = params.profiling.sentence_pieces
    target = 1 if labels else length
    pairs = 2 * params.training.batch_tokens // (length + target)
    forward = ForwardFlops.of(model, vocabulary, labels).pair(length, target)
    return TRAINING_TO_FORWARD * pairs * forward
