"""What a training step asks of a GPU, counted without one: kernels, bytes, operations, and the time
that they would take at assumed speeds. A model, not a measurement: `make gpu-check` measures.

The Trainer runs one step of base and of big at the paper's sizes on tensors that have a device and
a size but no numbers (FakeTensorMode); gpu_operators.py counts. Needs g++, as tests/gpu do. Prints
the tables of docs/decisions/gpu-speed.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

import torch
from benchmarks.gpu_check import BASE, BIG, TRITON, news_like_tokens
from benchmarks.gpu_operators import Operator, Recorder
from tests.gpu.simulated_gpu import SIMULATED, answering_for_a_gpu, build_stand_in
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from aiayn.config import Adam, Model, Training
from aiayn.model.device import Device
from aiayn.training.job import Job
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

LAUNCH = 7e-6  # seconds of the host for a kernel that it starts by itself
GRAPH_LAUNCH = 30e-6  # of the host, for a graph of some 600 kernels
SHORTEST = 2.2e-6  # seconds of a GPU for the smallest kernel
PAIRS = 100_000
LOAD_FIRST = "import ctypes, sys; ctypes.CDLL(sys.argv.pop(1)); "
START = LOAD_FIRST + "from benchmarks.gpu_model import main; main()"


@dataclass(frozen=True)
class Speeds:
    """Of a GPU, as kernels of these shapes reach them (assumed), and the peak of its data sheet.

    field | unit
    --- | ---
    bandwidth, bus | bytes/s, of its memory and of a sum over 8 GPUs
    products, products_float32, attention | operations/s
    peak | operations/s in bfloat16, dense
    """

    bandwidth: float
    bus: float
    products: float
    products_float32: float
    attention: float
    peak: float


GPUS = {
    "H100": Speeds(2.7e12, 360e9, 650e12, 50e12, 250e12, 989e12),
    "A100": Speeds(1.6e12, 230e9, 230e12, 17e12, 120e12, 312e12),
}


def seconds_of(operator: Operator, gpu: Speeds) -> float:
    """As long as its memory traffic or its products take; a kernel at least `SHORTEST`."""
    speed = gpu.products if operator.dtype == torch.bfloat16 else gpu.products_float32
    if operator.kind == "attention":
        speed = gpu.attention
    least = SHORTEST * operator.kernels
    return max(operator.bytes / gpu.bandwidth, operator.flops / speed, least)


@dataclass
class Step:
    """The operators of a step on one of `processes` GPUs, the bytes for whose sum it waits, the
    bytes of all sums, and the micro-batches of this GPU."""

    operators: list[Operator] = field(default_factory=list)
    processes: int = 1
    summed: int = 0
    all_summed: int = 0
    micro_batches: int = 1

    @property
    def kernels(self) -> int:
        return sum(operator.kernels for operator in self.operators)

    @property
    def bytes(self) -> int:
        return sum(operator.bytes for operator in self.operators)

    @property
    def flops(self) -> int:
        return sum(operator.flops for operator in self.operators)

    def computing(self, gpu: Speeds) -> float:
        """Seconds of the GPU."""
        return sum(seconds_of(operator, gpu) for operator in self.operators)

    def summing(self, gpu: Speeds) -> float:
        """Seconds to sum over all GPUs, in a ring."""
        return 2 * (self.processes - 1) / self.processes * self.summed / gpu.bus

    def seconds(self, gpu: Speeds) -> float:
        """Of the step: the host starts kernels while the GPU computes."""
        return max(self.computing(gpu), LAUNCH * self.kernels) + self.summing(gpu)

    def with_graphs(self) -> tuple[int, float]:
        """How many kernels and graphs the host starts, if all micro-batches are captured, and its
        seconds."""
        alone = sum(part.kernels for part in self.operators if not part.in_micro_batch)
        copies = 2 * self.micro_batches  # of the pieces, to where the graph reads them
        seconds = LAUNCH * (alone + copies) + GRAPH_LAUNCH * self.micro_batches
        return alone + copies + self.micro_batches, seconds


@dataclass(frozen=True)
class Part(Processes):
    """The first of several processes, without the others."""

    def add_up(self, tensor: Tensor) -> Tensor:
        return tensor

    def begin_to_add_up(self, tensor: Tensor) -> Callable[[], None]:
        return lambda: None


def step_of(row: Model, micro_batches: int, processes: int) -> Step:
    """A step of 25,000 tokens a side with bfloat16 products. Inside `answering_for_a_gpu`."""
    training = Training(
        batch_tokens=25_000, micro_batches=micro_batches, max_length=256, warmup_steps=4000,
        learning_rate_scale=1.0, adam=Adam(beta1=0.9, beta2=0.98, epsilon=1e-9),
        validation_steps=1500, log_steps=100,
    )  # fmt: skip
    job = Job("en-de.model", "translation", row, training, 1, "", "")
    device = Device(torch.device("cuda", 0), "bfloat16")
    recorder = Recorder(row)
    with FakeTensorMode(allow_non_fake_inputs=True):
        trainer = Trainer(
            job, news_like_tokens(PAIRS), news_like_tokens(100), device, Part(0, processes)
        )
        trainer.graphs = None  # which would need numbers
        trainer.step()  # the optimiser makes its state
        accumulate = trainer._accumulate

        def noted(*pieces: Tensor) -> None:
            recorder.in_micro_batch = True
            accumulate(*pieces)
            recorder.in_micro_batch = False

        with recorder, mock.patch.object(trainer, "_accumulate", noted):
            trainer.step()
    # with buckets, all but the embedding's gradient is summed while the GPU computes others
    waits_for = trainer.model.embedding if trainer.buckets else trainer.flat.sums
    return Step(
        recorder.operators,
        processes,
        waits_for.numel() * 4 if processes > 1 else 0,
        trainer.flat.sums.numel() * 4 if processes > 1 else 0,
        micro_batches // processes,
    )


def _moved(module: nn.Module, device: torch.device) -> nn.Module:
    """`module.to(device)` with new parameters: what has no numbers cannot be replaced in place."""
    for part in module.modules():
        for name, parameter in part.named_parameters(recurse=False):
            setattr(part, name, nn.Parameter(parameter.detach().to(device)))
        for name, buffer in part.named_buffers(recurse=False):
            setattr(part, name, buffer.to(device))
    return module


def tables(steps: Mapping[tuple[str, int, int], Step]) -> Iterator[str]:
    """Of steps by model, processes and micro-batches: totals, then where the time goes."""
    yield "| | kernels | GB | TFLOP | H100: ms | share of peak | A100: ms | share of peak |"
    yield "| --- | --: | --: | --: | --: | --: | --: | --: |"
    for name, step in steps.items():
        cells = [_title(name), f"{step.kernels:,}", f"{step.bytes / 1e9:.1f}"]
        cells.append(f"{step.flops / 1e12:.2f}")
        for gpu in GPUS.values():
            seconds = step.seconds(gpu)
            cells += [f"{1e3 * seconds:.1f}", f"{step.flops / seconds / gpu.peak:.0%}"]
        yield f"| {' | '.join(cells)} |"
    for name, step in steps.items():
        yield f"\n{_title(name)}:\n"
        yield "| kind | kernels | GB | H100: ms | A100: ms |"
        yield "| --- | --: | --: | --: | --: |"
        kinds: dict[str, Step] = {}
        for operator in step.operators:
            kinds.setdefault(operator.kind, Step()).operators.append(operator)
        h100 = GPUS["H100"]
        for kind, part in sorted(kinds.items(), key=lambda item: -item[1].computing(h100)):
            times = [f"{1e3 * part.computing(gpu):.2f}" for gpu in GPUS.values()]
            yield f"| {kind} | {part.kernels:,} | {part.bytes / 1e9:.2f} | {' | '.join(times)} |"
        if step.summed:
            times = [f"{1e3 * step.summing(gpu):.2f}" for gpu in GPUS.values()]
            yield f"| sum over the GPUs | | | {' | '.join(times)} |"


def graph_table(steps: Mapping[tuple[str, int, int], Step]) -> Iterator[str]:
    """Of steps whose kernels the host starts one by one, or as one graph a micro-batch. With
    several GPUs, sums begin inside the backward pass, or follow the graph.
    """
    gpu = GPUS["H100"]
    yield "| H100 | starts | host, ms | GPU, ms | sums, ms | host's limit, \u00b5s a kernel |"
    yield "| --- | --: | --: | --: | --: | --: |"
    for name, step in steps.items():
        starts, seconds = step.with_graphs()
        computing = step.computing(gpu)
        after = replace(step, summed=step.all_summed).summing(gpu)
        cells = [
            _title(name),
            f"{step.kernels:,} \u2192 {starts:,}",
            f"{1e3 * LAUNCH * step.kernels:.1f} \u2192 {1e3 * seconds:.2f}",
            f"{1e3 * computing:.1f}",
            f"{1e3 * step.summing(gpu):.2f} \u2192 {1e3 * after:.2f}" if after else "",
            f"{1e6 * computing / step.kernels:.1f}",
        ]
        yield f"| {' | '.join(cells)} |"


def _title(name: tuple[str, int, int]) -> str:
    row, processes, micro_batches = name
    if processes > 1:
        return f"{row}, {processes} GPUs"
    return f"{row}, 1 GPU, {micro_batches} micro-batch{'es' if micro_batches > 1 else ''}"


def main() -> None:
    if SIMULATED not in os.environ:  # the library has to be loaded before torch
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", START, str(build_stand_in(Path(folder)))]
            environment = os.environ | {SIMULATED: "1", "OMP_NUM_THREADS": "1"}
            sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    torch.set_deterministic_debug_mode("error")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    rows = {"base": BASE, "big": BIG}
    cases = [("base", 8, 8), ("base", 1, 8), ("base", 1, 1), ("big", 8, 8), ("big", 1, 8)]
    for title, own in (("With torch's kernels alone", False), ("With the project's own", True)):
        with (
            answering_for_a_gpu(),
            mock.patch("torch.nn.Module.to", _moved),
            # kernels cannot be tried on tensors without numbers
            mock.patch(TRITON, return_value="counted" if own else None),
        ):
            steps = {name: step_of(rows[name[0]], name[2], name[1]) for name in cases}
        print(f"\n## {title}\n")
        print("\n".join(tables(steps)), flush=True)
    print("\n## Started one by one, or as CUDA graphs\n")
    print("\n".join(graph_table(steps)))


if __name__ == "__main__":
    main()
