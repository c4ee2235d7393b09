"""The processes that train together: one alone, or those that torchrun started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch.distributed
from torch import Tensor


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
def join_processes(*, gpu: bool) -> Iterator[Processes]:
    """Join the process group that torchrun's environment describes; alone without it.

    Over nccl between GPUs, gloo between CPUs.
    """
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    torch.distributed.init_process_group("nccl" if gpu else "gloo")
    try:
        yield Processes(torch.distributed.get_rank(), count, int(os.environ.get("LOCAL_RANK", "0")))
    finally:
        torch.distributed.destroy_process_group()
