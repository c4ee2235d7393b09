"""The processes that train together: one alone, or those that torchrun started."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch.distributed
from torch import Tensor

from aiayn.config import Machine
from aiayn.errors import AiaynError, ConfigError, TrainingError
from aiayn.model.device import Device, open_device
from aiayn.results import paths

TIMEOUT = timedelta(minutes=10)  # longer than anything the first process does alone
REPORT_SECONDS = 30  # within which the first process of a machine reports an error of all


@dataclass(frozen=True)
class Processes:
    """This process, and how many there are; `local` among those of this machine."""

    rank: int = 0
    count: int = 1
    local_rank: int = 0
    local_count: int = 1

    @staticmethod
    def from_environment() -> Processes:
        """As torchrun's environment describes them; one alone without it."""
        return Processes(
            rank=int(os.environ.get("RANK", "0")),
            count=int(os.environ.get("WORLD_SIZE", "1")),
            local_rank=int(os.environ.get("LOCAL_RANK", "0")),
            local_count=int(os.environ.get("LOCAL_WORLD_SIZE", "1")),
        )

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and prints."""
        return self.rank == 0

    def check_share(self, micro_batches: int) -> None:
        """Raises ConfigError if a process would have nothing to do."""
        if self.count > micro_batches:
            with self.one_report():
                raise ConfigError(
                    f"params.yaml: training.micro_batches is {micro_batches}, too few for "
                    f"{self.count} processes. Raise it, or start fewer: launcher.command."
                )

    @contextmanager
    def one_report(self) -> Iterator[None]:
        """For what fails in all processes alike: the first of each machine reports the error, the
        others wait until their launcher ends them."""
        try:
            yield
        except AiaynError:
            if self.local_rank > 0:
                time.sleep(REPORT_SECONDS)
            raise

    def share(self, number: int) -> range:
        """Which of `number` pieces of work this process does."""
        return range(self.rank, number, self.count)

    def add_up(self, tensor: Tensor) -> Tensor:
        """Sum over all processes, in place. Raises TrainingError: one of them has ended."""
        if self.count > 1:
            with self._together():
                torch.distributed.all_reduce(tensor)
        return tensor

    def begin_to_add_up(self, tensor: Tensor) -> Callable[[], None]:
        """Begin to sum over all processes, in place, in the same order in each of them.

        Returns a function after which the sum may be used. It and this raise TrainingError if a
        process has ended.
        """
        with self._together():
            work = torch.distributed.all_reduce(tensor, async_op=True)
        assert work is not None

        def wait() -> None:
            with self._together():
                work.wait()

        return wait

    def wait_for_all(self) -> None:
        """Return when every process has called this. Raises TrainingError: one has ended."""
        if self.count > 1:
            with self._together():
                torch.distributed.barrier()

    def agree(self, state: str) -> None:
        """Check that every process is about to do the same.

        Raises:
            TrainingError: they are not, or one has ended.
        """
        if self.count == 1:
            return
        states: list[str] = [""] * self.count
        with self._together():
            torch.distributed.all_gather_object(states, state)
        for rank, other in enumerate(states):
            if other != states[0]:
                raise TrainingError(
                    f"process {rank} would start from {other}, the first from {states[0]}. All "
                    "need the same code, parameters, versions and kind of machine, and one "
                    f"{paths.SCRATCH} on a file system that they share."
                )

    @contextmanager
    def _together(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            cause = " ".join(str(error).split())[:200]
            raise TrainingError(
                f"process {self.rank} of {self.count} lost another one; the cause is in that one's "
                f"own message ({cause}). Correct it and start again."
            ) from error


def open_device_of(processes: Processes, machine: Machine, d_model: int) -> Device:
    """The device of this process among those of its machine. Errors as for `open_device`."""
    with processes.one_report():
        return open_device(
            machine.device, machine.precision, d_model=d_model, threads=machine.threads,
            local_rank=processes.local_rank, local_count=processes.local_count,
        )  # fmt: skip


@contextmanager
def process_group(processes: Processes, device: Device) -> Iterator[None]:
    """Connect the processes, by NCCL on GPUs and by gloo on CPUs. Does nothing for one alone.

    Args:
        device: open: NCCL reads its settings, and whether torch is deterministic, when it starts.

    A process that leaves by an error ends at once when its message is written: the others wait for
    it inside a sum, so the group cannot be closed in order, neither here nor at the interpreter's
    end. They end by losing it.
    """
    if processes.count == 1:
        yield
        return
    if device.device.type == "cuda":
        torch.distributed.init_process_group("nccl", timeout=TIMEOUT, device_id=device.device)
    else:
        torch.distributed.init_process_group("gloo", timeout=TIMEOUT)
    try:
        yield
    except BaseException:
        atexit.register(_end_at_once)
        raise
    torch.distributed.destroy_process_group()


def _end_at_once() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)
