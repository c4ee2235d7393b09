"""What a training step asks of a GPU, counted without one: kernels, bytes, operations, and the time
that they would take at assumed speeds. A model, not a measurement: `make gpu-check` measures.

The Trainer runs one step of base and of big at the paper's sizes on tensors that have a device and
a size but no numbers (FakeTensorMode). An operator moves each of its tensors once; how many kernels
it has is in tests/gpu/pretended_gpu.py. Needs g++, as those tests do. Prints the tables of
docs/decisions/gpu-speed.md.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from benchmarks.gpu_check import BASE, PIECES, TRITON, news_like_tokens
from tests.gpu.pretended_gpu import (
    KERNELS,
    PRETENDED,
    WITHOUT_KERNEL,
    answering_for_a_gpu,
    build_stand_in,
)
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from aiayn.config import Adam, Model, Training
from aiayn.model.device import Device
from aiayn.training.job import Job
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

BIG = BASE.replace(d_model=1024, d_ff=4096, h=16, P_drop=0.3)
LAUNCH = 7e-6  # seconds of the host for a kernel that it starts by itself
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


@dataclass(frozen=True)
class Operator:
    """One call: kernels, bytes, operations, and the format of its products."""

    kind: str
    name: str
    kernels: int
    bytes: int
    flops: int
    dtype: torch.dtype | None

    def seconds(self, gpu: Speeds) -> float:
        """As long as its memory traffic or its products take; a kernel at least `SHORTEST`."""
        speed = gpu.products if self.dtype == torch.bfloat16 else gpu.products_float32
        if self.kind == "attention":
            speed = gpu.attention
        return max(self.bytes / gpu.bandwidth, self.flops / speed, SHORTEST * self.kernels)


@dataclass
class Step:
    """The operators of a step on one of `processes` GPUs, and the bytes for whose sum it waits."""

    operators: list[Operator] = field(default_factory=list)
    processes: int = 1
    summed: int = 0

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
        return sum(operator.seconds(gpu) for operator in self.operators)

    def summing(self, gpu: Speeds) -> float:
        """Seconds to sum over all GPUs, in a ring."""
        return 2 * (self.processes - 1) / self.processes * self.summed / gpu.bus

    def seconds(self, gpu: Speeds) -> float:
        """Of the step: the host starts kernels while the GPU computes."""
        return max(self.computing(gpu), LAUNCH * self.kernels) + self.summing(gpu)


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every operator of a model's step."""

    def __init__(self, row: Model) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.row = row
        self.operators: list[Operator] = []
        d, d_ff = row.d_model, row.d_ff
        self.weights = {
            (d, d),
            (2 * d, d),
            (3 * d, d),
            (d, 2 * d),
            (d, 3 * d),
            (d_ff, d),
            (d, d_ff),
        }

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        out = function(*args, **kwargs)
        name = function.overloadpacket.__name__
        leaves = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        read = [*{id(leaf): leaf for leaf in leaves}.values()]
        written = [leaf for leaf in tree_leaves(out) if isinstance(leaf, Tensor)]
        tensors = [*read, *written]
        if name in WITHOUT_KERNEL or function.namespace not in ("aten", "aiayn"):
            return out
        count = flop_registry.get(function.overloadpacket)
        given = args[:3] if name == "addmm" else args  # without a format of the sums
        self.operators.append(
            Operator(
                kind=self.kind(name, [tuple(tensor.shape) for tensor in tensors]),
                name=name,
                kernels=KERNELS.get(name, 1),
                bytes=_bytes(name, read, written),
                flops=count(*given, **kwargs, out_val=out) if count else 0,
                # the first of addmm's is that of its sums
                dtype=next((t.dtype for t in reversed(given) if isinstance(t, Tensor)), None),
            )
        )
        return out

    def kind(self, name: str, shapes: Sequence[tuple[int, ...]]) -> str:
        """What an operator is for, by its name and the shapes of its tensors."""
        row = self.row
        is_product = name in ("mm", "addmm", "bmm", "addmm_")
        if any(PIECES in shape for shape in shapes):
            if is_product:
                return "products with the embedding matrix"
            if any(len(s) == 2 and s[1] == PIECES for s in shapes):
                return "softmax, loss and their gradient"
            return "embedding matrix: lookup, casts, gradients"
        if "embedding" in name:
            return "embedding matrix: lookup, casts, gradients"
        if "scaled_dot" in name:
            return "attention"
        if is_product:
            return "other products"
        if "adam" in name or all(len(s) == 1 and s[0] > 1e7 for s in shapes):
            return "Adam, zeroing"
        if any(shape in self.weights for shape in shapes):
            return "weights: casts, joining, sums of gradients"
        if any(len(s) >= 2 and s[-1] == row.d_ff for s in shapes):
            return "relu and gradients of biases"
        return "residual, dropout, normalization, casts, masks"


def _bytes(name: str, read: Sequence[Tensor], written: Sequence[Tensor]) -> int:
    """That an operator moves. A lookup reads what it writes."""
    if name in ("zero_", "fill_", "zeros", "zeros_like", "full", "new_zeros", "ones", "full_like"):
        return sum(map(_size, written))
    if name in ("embedding", "gather"):
        return 2 * sum(map(_size, written)) + _size(read[1])
    if name == "copy_":
        return _size(read[1]) + _size(written[0])
    if name == "smoothed_cross_entropy_":  # reads the logits twice and writes them
        return 3 * _size(read[0]) + _size(read[1]) + _size(written[0])
    if name == "residual_norm_backward":  # writes and reads sums of parts of the rows
        width = read[-2].shape[-1]
        sums = 2 * 4 * 2 * width * min(written[0].numel() // width, 512)
        return sum(map(_size, read)) + sum(map(_size, written)) + sums
    if name == "_fused_adam_":  # reads four vectors and writes three of them
        return sum(map(_size, read)) * 7 // 4
    return sum(map(_size, read)) + sum(map(_size, written))


def _size(tensor: Tensor) -> int:
    """Bytes; a dimension that is repeated is read once."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return math.prod(size for size, stride in sizes if stride) * tensor.element_size()


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
        trainer.step()  # the optimiser makes its state
        with recorder:
            trainer.step()
    # with buckets, all but the embedding's gradient is summed while the GPU computes others
    waits_for = trainer.model.embedding if trainer.buckets else trainer.flat.sums
    return Step(recorder.operators, processes, waits_for.numel() * 4 if processes > 1 else 0)


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


def _title(name: tuple[str, int, int]) -> str:
    row, processes, micro_batches = name
    if processes > 1:
        return f"{row}, {processes} GPUs"
    return f"{row}, 1 GPU, {micro_batches} micro-batch{'es' if micro_batches > 1 else ''}"


def main() -> None:
    if PRETENDED not in os.environ:  # the library has to be loaded before torch
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", START, str(build_stand_in(Path(folder)))]
            environment = os.environ | {PRETENDED: "1", "OMP_NUM_THREADS": "1"}
            sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    torch.set_deterministic_debug_mode("error")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    rows = {"base": BASE, "big": BIG}
    asked = [("base", 8, 8), ("base", 1, 8), ("base", 1, 1), ("big", 8, 8), ("big", 1, 8)]
    for title, own in (("With torch's kernels alone", False), ("With the project's own", True)):
        with answering_for_a_gpu(), mock.patch("torch.nn.Module.to", _moved), ExitStack() as stack:
            if not own:
                stack.enter_context(mock.patch(TRITON, return_value=None))
            steps = {name: step_of(rows[name[0]], name[2], name[1]) for name in asked}
        print(f"\n## {title}\n")
        print("\n".join(tables(steps)), flush=True)


if __name__ == "__main__":
    main()
