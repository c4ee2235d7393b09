"""The processes that train together: one alone, or those that torchrun started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch.distributed
from torch import Tensor

from aiayn.errors import ConfigError


@dataclass(frozen=True)
class Processes:
    """This process among all of them."""

    rank: int = 0
    count: int = 1
    local_rank: int = 0

    @property
    def is_first(self) -> bool:
        """The process that writes files and talks."""
        return self.rank == 0

    def check_share(self, micro_batches: int) -> None:
        """Raises ConfigError where a process would have nothing to do."""
        if self.count > micro_batches:
            raise ConfigError(
                f"params.yaml: training.micro_batches is {micro_batches}, too few for {self.count} "
                "processes. Raise it, or start fewer: launcher.command."
            )

    def share(self, number: int) -> range:
        """Which of `number` pieces of work are this process's."""
        return range(self.rank, number, self.count)

    def add_up(self, tensor: Tensor) -> Tensor:
        """Sum over all processes, in place."""
        if self.count > 1:
            torch.distributed.all_reduce(tensor)
        return tensor

    def wait_for_all(self) -> None:
        """Return when every process has come this far."""
        if self.count > 1:
            torch.distributed.barrier()


@contextmanager
def join_processes(device: str) -> Iterator[Processes]:
    """Join the process group that torchrun's environment describes; alone without it.

    Args:
        device: auto, cpu or cuda: GPUs talk over nccl, CPUs over gloo.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    gpu = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    torch.distributed.init_process_group("nccl" if gpu else "gloo")
    try:
        yield Processes(torch.distributed.get_rank(), count, int(os.environ.get("LOCAL_RANK", "0")))
    finally:
        torch.distributed.destroy_process_group()
