"""CUDA graphs of the pretended GPU: what torch.cuda offers for them, by recording operators.

During a capture nothing is computed that stays: what operators write to memory from outside is
restored when it ends, and memory of its own is overwritten, then and before each replay, as other
graphs of one pool may do. A replay runs the recorded operators on the same memory, with the numbers
of the host as they were. What CUDA forbids during a capture is an error: to wait for the GPU, and
to read the host's tensors.
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


def stream(one: Stream) -> Any:
    return nullcontext()


POOLS = iter(range(1_000_000))


def graph_pool_handle() -> int:
    return next(POOLS)


class CUDAGraph:
    """Attributes:
    memory: address and storage of each block of the pool that the graph uses.
    outside: the same of memory that it writes to and did not allocate, with its contents before.
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
        hosts: Sequence[Tensor],
    ) -> Any:
        """Compute during the capture, and record."""
        numbers = {id(host): host.clone() for host in hosts}
        if any(host.dim() for host in hosts):
            raise RuntimeError(f"{FORBIDDEN}: {function} reads a tensor of the host")
        args = tree_map(lambda leaf: numbers.get(id(leaf), leaf), args)
        given = {_address(tensor) for tensor in _tensors((args, kwargs))}
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
        made = [tensor for tensor in _tensors(out) if _address(tensor) not in given]
        self.memory |= {_address(tensor): tensor.untyped_storage() for tensor in made}
        if written or made:
            self.calls.append(lambda: self.again(lambda: compute(*args, **kwargs), out, made))
        return out

    @staticmethod
    def again(compute: Callable[[], Any], out: Any, made: Sequence[Tensor]) -> None:
        kept = {id(tensor) for tensor in made}
        for old, new in zip(tree_leaves(out), tree_leaves(compute()), strict=True):
            if id(old) in kept:
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
    function: Any, compute: Callable[..., Any], args: Any, kwargs: Any, hosts: Sequence[Tensor]
) -> Any:
    """An operator's result."""
    if CAPTURING:
        return CAPTURING[0].run(function, compute, args, kwargs, hosts)
    return compute(*args, **kwargs)


MODE = "default"


def get_sync_debug_mode() -> str:
    return MODE


def set_sync_debug_mode(mode: str) -> None:
    global MODE
    MODE = mode


def forbid_to_wait() -> None:
    """What torch and CUDA do where the host waits for the GPU."""
    if MODE == "warn":
        warnings.warn("called a synchronizing CUDA operation", stacklevel=2)
    if CAPTURING:
        raise RuntimeError(FORBIDDEN)


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
