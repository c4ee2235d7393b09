"""The processes that train together: one alone, or those that torchrun started."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch.distributed
from torch import Tensor

from aiayn.errors import ConfigError, TrainingError
from aiayn.results import paths

TIMEOUT = timedelta(minutes=10)  # longer than anything the first process does alone


@dataclass(frozen=True)
class Processes:
    """This process, and how many there are."""

    rank: int = 0
    count: int = 1
    local_rank: int = 0

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and prints."""
        return self.rank == 0

    def check_share(self, micro_batches: int) -> None:
        """Raises ConfigError if a process would have nothing to do."""
        if self.count > micro_batches:
            raise ConfigError(
                f"params.yaml: training.micro_batches is {micro_batches}, too few for {self.count} "
                "processes. Raise it, or start fewer: launcher.command."
            )

    def share(self, number: int) -> range:
        """Which of `number` pieces of work this process does."""
        return range(self.rank, number, self.count)

    def add_up(self, tensor: Tensor) -> Tensor:
        """Sum over all processes, in place. Raises TrainingError: one of them has ended."""
        if self.count > 1:
            with self._together():
                torch.distributed.all_reduce(tensor)
        return tensor

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


@contextmanager
def join_processes(device: str) -> Iterator[Processes]:
    """Join the process group that torchrun's environment describes; alone without it.

    Args:
        device: auto, cpu or cuda: GPUs talk over nccl, CPUs over gloo.

    A process that leaves by an error ends at once when its message is written: the others wait for
    it inside a sum, so the group cannot be closed in order, neither here nor at the interpreter's
    end. They end by losing it.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    gpu = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    torch.distributed.init_process_group("nccl" if gpu else "gloo", timeout=TIMEOUT)
    try:
        yield Processes(torch.distributed.get_rank(), count, int(os.environ.get("LOCAL_RANK", "0")))
    except BaseException:
        atexit.register(_end_at_once)
        raise
    torch.distributed.destroy_process_group()


def _end_at_once() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)
