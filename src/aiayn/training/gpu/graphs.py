"""CUDA graphs: the kernels of a micro-batch, captured once for each of the plan's shapes and then
started by one call instead of hundreds.

A replay runs the captured kernels with the captured arguments at the captured addresses. What
differs between micro-batches is therefore read from memory: the pieces, the random stream's number
and the step's number of target tokens. What torch 2.13 requires of a capture
(torch/cuda/graphs.py, ATen/cuda/CUDAGraph.cpp), and how it is met here:

- a stream other than the default one, on which the same work has run before, so that libraries have
  their workspaces, and Triton its kernels: a shape's first micro-batch runs there without a graph;
- no synchronization: that first run is watched, and nothing is captured if it synchronizes. CUDA
  would end such a capture with an error, after which torch's allocator no longer frees memory;
- no memory but from the graphs' pool, which they share: no tensor of the pool is read after the
  graph that wrote it, and all replays are on one stream;
- every other address stays valid: they are compared at the beginning of each step.

A graph is trusted after it has given, for a micro-batch of its shape in a later step, the bits
that its kernels give when they are started one by one. So which micro-batches are replayed does not
change a training, and each process decides for itself.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

LEAST_FREE = 0.25  # of the GPU's memory, for a further capture
SYNCHRONIZES = "called a synchronizing CUDA operation"  # torch's warning


@dataclass
class _Captured:
    step: int
    graph: torch.cuda.CUDAGraph
    pieces: list[Tensor]
    is_trusted: bool = False

    def replay(self, pieces: Sequence[Tensor]) -> None:
        for captured, source in zip(self.pieces, pieces, strict=True):
            captured.copy_(source)
        self.graph.replay()


class Graphs:
    """Computes micro-batches, those of a shape that has come twice before by replaying its graph.

    Attributes:
        started: micro-batches that were computed.
        replayed: those of them that were replayed.
    """

    def __init__(
        self,
        compute: Callable[..., None],
        sums: Sequence[Tensor],
        fixed: Callable[[], Iterable[Tensor]],
    ) -> None:
        """
        Args:
            compute: adds what a micro-batch contributes to `sums`; of its tensors of pieces.
            sums: all that `compute` changes.
            fixed: every other tensor that it uses, and `sums`, as they are now.
        """
        self._compute, self._sums, self._fixed = compute, sums, fixed
        self._captured: dict[tuple[torch.Size, ...], _Captured] = {}
        self._addresses: list[int] = []
        self._step = -1
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._has_room, self._problem = True, ""
        self.started = self.replayed = 0

    @property
    def are_in_use(self) -> bool:
        """Whether nothing has failed that they need."""
        return not self._problem

    def run(self, step: int, pieces: Sequence[Tensor]) -> None:
        """Add what a micro-batch of a step contributes to the sums."""
        self.started += 1
        if self._problem:
            self._compute(*pieces)
            return
        if step != self._step:
            self._step = step
            self._check_addresses()
        shape = tuple(tensor.shape for tensor in pieces)
        captured = self._captured.get(shape)
        if captured is None and self._has_room:
            self._first_run(step, shape, pieces)
        elif captured is None or captured.step == step:
            self._compute(*pieces)
        elif captured.is_trusted:
            captured.replay(pieces)
            self.replayed += 1
        else:
            self._compare(captured, pieces)

    def __str__(self) -> str:
        problem = f"; not used: {self._problem}" if self._problem else ""
        return (
            f"CUDA graphs: {len(self._captured)} shapes, {self.replayed:,} of {self.started:,} "
            f"micro-batches replayed{problem}"
        )

    def _first_run(
        self, step: int, shape: tuple[torch.Size, ...], pieces: Sequence[Tensor]
    ) -> None:
        """Compute, and capture for later micro-batches of this shape."""
        current = torch.cuda.current_stream()
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            waits = _synchronizes(lambda: self._compute(*pieces))
        current.wait_stream(self._stream)
        if waits:
            self._give_up("a micro-batch waits for the GPU")
            return
        captured = _Captured(step, torch.cuda.CUDAGraph(), [tensor.clone() for tensor in pieces])
        try:
            torch.cuda.empty_cache()
            free, total = torch.cuda.mem_get_info()
            if free < LEAST_FREE * total:
                self._has_room = False
                return
            # the outer block returns to the current stream where the inner one ends by an error
            with (
                torch.cuda.stream(self._stream),
                torch.cuda.graph(captured.graph, pool=self._pool, stream=self._stream),
            ):
                self._compute(*captured.pieces)
        except RuntimeError as error:  # also torch.OutOfMemoryError
            self._give_up(" ".join(str(error).split())[:200])
            return
        self._captured[shape] = captured

    def _compare(self, captured: _Captured, pieces: Sequence[Tensor]) -> None:
        """Compute a micro-batch both ways; what stays is computed without the graph."""
        before = [tensor.clone() for tensor in self._sums]
        captured.replay(pieces)
        replayed = [tensor.clone() for tensor in self._sums]
        for tensor, old in zip(self._sums, before, strict=True):
            tensor.copy_(old)
        self._compute(*pieces)
        captured.is_trusted = all(map(torch.equal, replayed, self._sums))
        if not captured.is_trusted:
            self._give_up("a replayed micro-batch has other gradients")

    def _check_addresses(self) -> None:
        """Capture all shapes again if a tensor has moved."""
        addresses = [tensor.data_ptr() for tensor in self._fixed()]
        if addresses != self._addresses:
            self._forget()
            self._addresses = addresses

    def _forget(self) -> None:
        if self._captured:
            torch.cuda.synchronize()
            self._captured.clear()
        # a pool without graphs cannot be used again
        self._pool = torch.cuda.graph_pool_handle()

    def _give_up(self, problem: str) -> None:
        self._problem = problem
        self._forget()
        print(f"Training without CUDA graphs from here on: {problem}", file=sys.stderr)


def _synchronizes(compute: Callable[[], None]) -> bool:
    """Compute, and return whether the host waited for the GPU meanwhile."""
    mode = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            compute()
        finally:
            torch.cuda.set_sync_debug_mode(mode)
    return any(SYNCHRONIZES in str(warning.message) for warning in caught)
