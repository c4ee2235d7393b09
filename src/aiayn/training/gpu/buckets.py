"""Sums of gradients over processes that begin while the backward pass still computes others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import nn

from aiayn.training.flat import FlatParameters
from aiayn.training.processes import Processes

MIN_ELEMENTS = 4 << 20  # of a part, except the first and the last one: 16 MB


class Buckets:
    """Cuts `flat.sums` into parts that are summed as soon as they are complete.

    A part with a parameter whose gradient is never marked complete, and what processes exchange
    besides gradients, are summed last, by `finish`.
    """

    def __init__(
        self, parameters: Sequence[nn.Parameter], flat: FlatParameters, processes: Processes
    ) -> None:
        """Of parameters in their order in `flat`."""
        self._flat, self._processes = flat, processes
        # the embedding comes first, and its gradient is complete last
        self._ends = [parameters[0].numel()]
        self._sizes, end = [1], parameters[0].numel()
        for number, parameter in enumerate(parameters[1:]):
            if number == 0 or end - self._ends[-2] >= MIN_ELEMENTS:
                self._ends.append(end)
                self._sizes.append(0)
            end += parameter.numel()
            self._ends[-1] = end
            self._sizes[-1] += 1
            bucket = len(self._sizes) - 1
            parameter.completed = self._complete_one_of(bucket)  # type: ignore[attr-defined]
        self._missing: list[int] | None = None
        self._waits: dict[int, Callable[[], None]] = {}

    def begin(self) -> None:
        """The next backward pass is the last one of this step."""
        self._missing, self._waits = [*self._sizes], {}

    def _complete_one_of(self, bucket: int) -> Callable[[], None]:
        def complete() -> None:
            if self._missing is None:
                return
            self._missing[bucket] -= 1
            assert self._missing[bucket] >= 0, "a gradient came twice"
            if self._missing[bucket] == 0:
                self._sum(bucket)

        return complete

    def _sum(self, bucket: int) -> None:
        begin = self._ends[bucket - 1] if bucket else 0
        end = self._ends[bucket]
        self._waits[bucket] = self._processes.begin_to_add_up(self._flat.sums[begin:end])

    def finish(self) -> None:
        """Sum the rest, and have what follows wait for all sums."""
        for bucket in range(len(self._ends)):
            if bucket not in self._waits:
                self._sum(bucket)
        self._processes.add_up(self._flat.control)
        for wait in self._waits.values():
            wait()
        self._missing = None
