"""The model, its optimiser and its data: one optimiser step, one validation, saving and restoring.

How many processes share the work does not matter: a global batch is a fixed set of micro-batches,
the loss is a mean over the real target tokens of all of them, and dropout is seeded by step and
micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from aiayn.data.tokens.arrays import TokenArrays
from aiayn.model.checkpoints import load_tensors, save_tensors, save_weights
from aiayn.model.device import Device
from aiayn.model.encoder import Encoding
from aiayn.training.batching import BatchPlan, MicroBatch, fill, sequential_batches
from aiayn.training.flat import FlatParameters
from aiayn.training.gpu.buckets import Buckets
from aiayn.training.gpu.check import usable_triton
from aiayn.training.gpu.graphs import Graphs
from aiayn.training.gpu.layers import Kernels
from aiayn.training.job import Job
from aiayn.training.objectives import OBJECTIVES
from aiayn.training.processes import Processes
from aiayn.training.schedule import learning_rate

# what processes exchange besides gradients: their share of the loss, whether to stop
LOSS, STOP = 0, 1
GPU_STEPS_BETWEEN_STOP_CHECKS = 10  # each waits for the GPU
VALIDATION_TOKENS = 4096  # per batch; affects only the order of summation


@dataclass
class Interval:
    """Sums since the last line of history."""

    loss: float = 0.0
    tokens: int = 0

    @property
    def mean_loss(self) -> float:
        """Label-smoothed loss in nats per target token."""
        return self.loss / self.tokens


class Trainer:
    """The state of a job on a device, at some step."""

    def __init__(
        self, job: Job, train: TokenArrays, dev: TokenArrays, device: Device, processes: Processes
    ) -> None:
        self.job, self.device, self.processes = job, device, processes
        self.objective = OBJECTIVES[job.kind]
        train, dev = self.objective.pairs(train), self.objective.pairs(dev)
        self.train_arrays, self.dev_arrays = train, dev
        settings = job.training
        self.plan = BatchPlan(
            *train.lengths,
            batch_tokens=settings.batch_tokens,
            micro_batches=settings.micro_batches,
            max_length=settings.max_length,
            seed=job.seed,
        )
        self.target_lengths = train.lengths[1]
        triton = usable_triton(device, processes, self._trial_gradients)
        self.fingerprint = job.fingerprint(device, triton)
        torch.manual_seed(job.seed)
        self.model: Encoding = self.objective.build(job.model, train, settings.max_length)
        self.model.to(device.device)
        self.flat = FlatParameters(self.model, control_slots=len((LOSS, STOP)))
        self.kernels = Kernels(self.model, self.flat) if triton else None
        self.buckets = None
        if self.kernels and processes.count > 1:
            self.buckets = Buckets([*self.model.parameters()], self.flat, processes)
        self.optimizer = torch.optim.Adam(
            [self.flat.values],
            betas=(settings.adam.beta1, settings.adam.beta2),
            eps=settings.adam.epsilon,
            fused=True,
        )
        self.step_number = 0
        self.tokens = 0
        self._loss = torch.zeros((), dtype=torch.float64, device=device.device)
        self._step_tokens: int | Tensor = 0
        self._interval_tokens = 0
        self.stop_requested = False
        self.graphs = None
        if self.kernels:
            sums = (self.flat.sums, self._loss)
            self.graphs = Graphs(self._accumulate, sums, self._tensors_in_place)

    def summary(self) -> str:
        """The run, its model and how it is computed, in one line."""
        matmul = torch.get_float32_matmul_precision()
        return (
            f"{self.job.run}: {self.flat.values.numel():,} parameters, "
            f"{self.job.model.steps:,} steps, "
            f"{self.device.device.type} {self.device.precision} (products: {matmul}), "
            f"{self.processes.count} process(es), padding {self.plan.padding_share:.1%}, "
            f"{self.plan.left_out} pairs left out for length"
        )

    def step(self) -> None:
        """One optimiser step over one global batch (section 5.3)."""
        self.model.train()
        batch = self.plan.step(self.step_number)
        tokens = sum(int(self.target_lengths[micro.indices].sum()) for micro in batch)
        self.flat.sums.zero_()
        self._step_tokens = tokens
        if self.kernels:
            self.kernels.round_weights()
            self._step_tokens = self.kernels.count(tokens)
        numbers = self.processes.share(len(batch))
        for number in numbers:
            self._seed_dropout(_seed(self.job.seed, self.step_number, number))
            pieces = self.tensors(self.train_arrays, batch[number])
            in_graphs = self.graphs is not None and self.graphs.are_in_use
            if self.buckets and number == numbers[-1] and not in_graphs:
                self.buckets.begin()  # the sums begin inside this backward pass
            if self.graphs:
                self.graphs.run(self.step_number, pieces)
            else:
                self._accumulate(*pieces)
        if self.processes.count > 1:
            self.flat.control[STOP] = float(self.stop_requested)
            if self.buckets:
                self.buckets.finish()
            else:
                self.processes.add_up(self.flat.sums)
            self._loss += self.flat.control[LOSS]
        self.step_number += 1
        self.optimizer.param_groups[0]["lr"] = self.learning_rate
        self.optimizer.step()
        self.tokens += tokens
        self._interval_tokens += tokens

    @property
    def should_stop(self) -> bool:
        """Whether a stop was requested of any process before the last step; the same in every
        process.
        """
        if self.processes.count == 1:
            return self.stop_requested
        if self.device.device.type == "cuda" and self.step_number % GPU_STEPS_BETWEEN_STOP_CHECKS:
            return False
        return bool(self.flat.control[STOP] > 0)

    @property
    def learning_rate(self) -> float:
        """Of the last step."""
        settings = self.job.training
        return learning_rate(
            self.step_number, self.job.model.d_model, settings.warmup_steps,
            settings.learning_rate_scale,
        )  # fmt: skip

    @property
    def epoch(self) -> float:
        """How many times the training data has been seen."""
        return self.step_number / self.plan.steps_per_epoch

    def is_finite(self) -> bool:
        """Whether every weight is finite."""
        return bool(torch.isfinite(self.flat.values).all())

    def close_interval(self) -> Interval:
        """The sums since the last call, over all processes."""
        interval = Interval(float(self._loss.item()), self._interval_tokens)
        self._loss.zero_()
        self._interval_tokens = 0
        return interval

    @torch.no_grad()
    def validate(self) -> float:
        """Negative log-likelihood of the dev set in nats per piece, end symbols included, without
        smoothing; its exponential is the paper's per-word-piece perplexity.
        """
        self.model.eval()
        if self.kernels:
            self.kernels.round_weights()
        batches = sequential_batches(*self.dev_arrays.lengths, VALIDATION_TOKENS)
        total = torch.zeros((), dtype=torch.float64, device=self.device.device)
        for number in self.processes.share(len(batches)):
            total += self._losses(self.model, *self.tensors(self.dev_arrays, batches[number]))[1]
        self.processes.add_up(total)
        return float(total.item()) / int(self.dev_arrays.lengths[1].sum())

    def save_weights(self, path: Path) -> None:
        """The weights only, for averaging and decoding."""
        save_weights(path, self.model.state_dict(), self.job.weights(self.step_number))

    def save_state(self, path: Path, extra: dict[str, Any]) -> None:
        """Everything that the next step depends on, and `extra`."""
        adam = self.optimizer.state[self.flat.values]
        tensors = {
            "values": self.flat.values,
            "exp_avg": adam["exp_avg"],
            "exp_avg_sq": adam["exp_avg_sq"],
        }
        counters = {
            "step": self.step_number,
            "tokens": self.tokens,
            "loss": float(self._loss.item()).hex(),
            "interval_tokens": self._interval_tokens,
        }
        save_tensors(path, tensors, {"counters": counters, "extra": extra})

    def restore_state(self, path: Path) -> dict[str, Any]:
        """Inverse of `save_state`: the next step gives the same bits. Returns `extra`."""
        tensors, metadata = load_tensors(path)
        counters = metadata["counters"]
        with torch.no_grad():
            self.flat.values.copy_(tensors["values"])
        device = self.device.device
        self.optimizer.state[self.flat.values] = {
            "step": torch.tensor(float(counters["step"]), device=device),
            "exp_avg": tensors["exp_avg"].to(device),
            "exp_avg_sq": tensors["exp_avg_sq"].to(device),
        }
        self.step_number, self.tokens = counters["step"], counters["tokens"]
        self._loss.fill_(float.fromhex(counters["loss"]))
        self._interval_tokens = counters["interval_tokens"]
        extra: dict[str, Any] = metadata["extra"]
        return extra

    def _seed_dropout(self, seed: int) -> None:
        if self.kernels:
            self.kernels.seed(seed)
        else:
            torch.manual_seed(seed)

    def _accumulate(self, source: Tensor, target: Tensor) -> None:
        """Add a micro-batch's share of the step's gradients and of the loss."""
        loss, _ = self._losses(self.model, source, target)
        (loss / self._step_tokens).backward()  # type: ignore[no-untyped-call]
        share = self._loss if self.processes.count == 1 else self.flat.control[LOSS]
        share += loss.detach()

    def _tensors_in_place(self) -> Iterator[Tensor]:
        """All that `_accumulate` reads besides its arguments, and what it changes."""
        assert self.kernels is not None
        yield from (self.flat.sums, self._loss, *self.kernels.tensors, *self.model.buffers())
        for parameter in self.model.parameters():
            assert parameter.grad is not None
            yield from (parameter, parameter.grad)

    def _losses(self, model: Encoding, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Smoothed loss and negative log-likelihood, summed over a micro-batch's real targets."""
        with self.device.autocast():
            return self.objective.losses(model, source, target, self.job.model.eps_ls)

    def _trial_gradients(self, with_kernels: bool) -> Tensor:
        """Of the job's model with one layer and without dropout: the sum over a micro-batch, twice,
        so that an overwritten sum would be seen; (parameters,)."""
        torch.manual_seed(self.job.seed)
        row = self.job.model.replace(N=1, P_drop=0.0)
        model: Encoding = self.objective.build(row, self.train_arrays, self.job.training.max_length)
        model.to(self.device.device)
        flat = FlatParameters(model, control_slots=0)
        if with_kernels:
            Kernels(model, flat).round_weights()
        for micro in 2 * self.plan.step(0)[:1]:
            pieces = self.tensors(self.train_arrays, micro)
            self._losses(model, *pieces)[0].backward()  # type: ignore[no-untyped-call]
        return flat.sums

    def tensors(self, arrays: TokenArrays, micro: MicroBatch) -> list[Tensor]:
        """Source and target of a micro-batch on the device, (B, S) and (B, T) int64."""
        tensors = [torch.from_numpy(array) for array in fill(arrays, micro)]
        if self.device.device.type == "cuda":
            tensors = [t.pin_memory().to(self.device.device, non_blocking=True) for t in tensors]
        return tensors


def _seed(seed: int, step: int, micro_batch: int) -> int:
    """A separate stream of random numbers for every (seed, step, micro-batch)."""
    return int(
        np.random.SeedSequence([seed, step, micro_batch]).generate_state(1, np.uint64)[0] >> 1
    )
