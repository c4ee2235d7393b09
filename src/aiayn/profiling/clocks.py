"""Wall time and memory of a layer on the device at hand: run metadata, never results."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from aiayn.model.device import Device
from aiayn.results.metadata import LayerTimes

REPEATS = 3


def clock(layer: nn.Module, x_BND: Tensor, device: Device) -> LayerTimes:
    """Best of REPEATS times after a warm-up, and peak bytes: forward, and forward plus backward.

    The peak counts live tensors that the layer's operators allocated: not the weights, the input,
    or an operator's internal workspace.
    """

    def forward() -> None:
        with torch.no_grad():
            layer(x_BND)

    def training() -> None:
        layer.zero_grad(set_to_none=True)
        layer(x_BND).sum().backward()

    def measured(run: Callable[[], None]) -> tuple[float, int]:
        seconds = _best(run, device)
        layer.zero_grad(set_to_none=True)
        with LiveBytes() as live:
            run()
        return seconds, live.peak

    forward_seconds, forward_bytes = measured(forward)
    training_seconds, training_bytes = measured(training)
    return LayerTimes(
        n=x_BND.shape[1],
        forward_seconds=forward_seconds,
        forward_bytes=forward_bytes,
        training_seconds=training_seconds,
        training_bytes=training_bytes,
    )


def _best(run: Callable[[], None], device: Device) -> float:
    run()
    seconds = []
    for _ in range(REPEATS):
        device.synchronize()
        begun = time.perf_counter()
        run()
        device.synchronize()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Context in which allocated tensors are counted; `peak` is the most bytes alive at once."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.peak = 0
        self._now = 0
        self._known: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        for tensor in tree_leaves((args, kwargs)):
            if isinstance(tensor, Tensor):
                self._known.add(tensor.untyped_storage())
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor) and tensor.untyped_storage() not in self._known:
                self._add(tensor.untyped_storage())
        return result

    def _add(self, storage: torch.UntypedStorage) -> None:
        self._known.add(storage)
        size = storage.nbytes()
        self._now += size
        self.peak = max(self.peak, self._now)
        weakref.finalize(storage, self._release, size)

    def _release(self, size: int) -> None:
        self._now -= size
