"""CUDA graphs of the simulated GPU: torch.cuda's interface for them, by recording operators.

Nothing computed during a capture remains: what operators write to outside memory is restored when it
ends, and the graph's own memory is overwritten, then and before each replay, as other graphs of one
pool may do. A replay runs the recorded operators on the same memory, with the host's numbers at the
time of the capture. What CUDA forbids during a capture is an error: waiting for the GPU, and reading
the host's tensors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

PATCHED = (
    "CUDAGraph", "Stream", "current_stream", "get_sync_debug_mode", "graph", "graph_pool_handle",
    "set_sync_debug_mode", "stream",
)  # fmt: skip
FORBIDDEN = "CUDA error: operation not permitted when stream is capturing"


class Stream:
    def wait_stream(self, other: Stream) -> None:
        assert isinstance(other, Stream)


def current_stream() -> Stream:
    return Stream()


def stream(selected: Stream) -> Any:
    return nullcontext()


POOLS = iter(range(1_000_000))


def graph_pool_handle() -> int:
    return next(POOLS)


class CUDAGraph:
    """Attributes:
    memory: address and storage of each block of the pool that the graph uses.
    outside: the same for memory that it writes to but did not allocate, with its previous contents.
    """

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []
        self.memory: dict[int, Any] = {}
        self.outside: dict[int, tuple[Any, Any]] = {}

    def replay(self) -> None:
        with torch.no_grad(), _disable_current_modes():
            self.overwrite()
            for call in self.calls:
                call()

    def overwrite(self) -> None:
        for storage in self.memory.values():
            storage.fill_(0xFF)  # NaN, or -1

    def run(
        self,
        function: Any,
        compute: Callable[..., Any],
        args: Any,
        kwargs: Any,
        host_tensors: Sequence[Tensor],
    ) -> Any:
        """Compute an operator during the capture, and record it."""
        numbers = {id(host): host.clone() for host in host_tensors}
        if any(host.dim() for host in host_tensors):
            raise RuntimeError(f"{FORBIDDEN}: {function} reads a tensor of the host")
        args = tree_map(lambda leaf: numbers.get(id(leaf), leaf), args)
        inputs = {_address(tensor) for tensor in _tensors((args, kwargs))}
        arguments = {
            a.name: value for a, value in zip(function._schema.arguments, args, strict=False)
        }
        written = _tensors(
            [
                (arguments | kwargs).get(argument.name)
                for argument in function._schema.arguments
                if argument.alias_info is not None and argument.alias_info.is_write
            ]
        )
        for tensor in written:
            storage, address = tensor.untyped_storage(), _address(tensor)
            if address not in self.memory:
                self.outside.setdefault(address, (storage, storage.clone()))
        out = compute(*args, **kwargs)
        allocated = [tensor for tensor in _tensors(out) if _address(tensor) not in inputs]
        self.memory |= {_address(tensor): tensor.untyped_storage() for tensor in allocated}
        if written or allocated:
            self.calls.append(lambda: self.repeat(lambda: compute(*args, **kwargs), out, allocated))
        return out

    @staticmethod
    def repeat(compute: Callable[[], Any], out: Any, allocated: Sequence[Tensor]) -> None:
        ids = {id(tensor) for tensor in allocated}
        for old, new in zip(tree_leaves(out), tree_leaves(compute()), strict=True):
            if id(old) in ids:
                old.copy_(new)


CAPTURING: list[CUDAGraph] = []


@contextmanager
def graph(
    captured: CUDAGraph, pool: int | None = None, stream: Stream | None = None
) -> Iterator[None]:
    assert not CAPTURING, "one capture at a time"
    CAPTURING.append(captured)
    try:
        yield
    finally:
        CAPTURING.pop()
        with _disable_current_modes():
            for storage, before in captured.outside.values():
                storage.copy_(before)
            captured.overwrite()


def computed(
    function: Any,
    compute: Callable[..., Any],
    args: Any,
    kwargs: Any,
    host_tensors: Sequence[Tensor],
) -> Any:
    """An operator's result."""
    if CAPTURING:
        return CAPTURING[0].run(function, compute, args, kwargs, host_tensors)
    return compute(*args, **kwargs)


MODE = "default"


def get_sync_debug_mode() -> str:
    return MODE


def set_sync_debug_mode(mode: str) -> None:
    global MODE
    MODE = mode


def forbid_to_wait() -> None:
    """What torch and CUDA do when the host waits for the GPU."""
    if MODE == "warn":
        warnings.warn("called a synchronizing CUDA operation", stacklevel=2)
    if CAPTURING:
        raise RuntimeError(FORBIDDEN)


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
