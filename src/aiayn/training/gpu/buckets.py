"""Sums of gradients over processes that begin while the backward pass still computes others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import nn

from aiayn.training.flat import FlatParameters
from aiayn.training.processes import Processes

MIN_ELEMENTS = 4 << 20  # of a part, except the first and the last one: 16 MB


class Buckets:
    """Cuts `flat.sums` into parts, summed from the last to the first, each as soon as it and those
    behind it are complete.

    So all processes start the same sums in the same order, also those that replay a graph, in which
    nothing is marked complete: `finish` sums the rest, and what processes exchange besides them.
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
        self._waits: list[Callable[[], None]] = []

    def begin(self) -> None:
        """The next backward pass is the last one of this step, and not in a graph."""
        self._missing = [*self._sizes]

    def _complete_one_of(self, bucket: int) -> Callable[[], None]:
        def complete() -> None:
            if self._missing is None:
                return
            self._missing[bucket] -= 1
            assert self._missing[bucket] >= 0, "a gradient came twice"
            while self._unsummed and self._missing[self._unsummed - 1] == 0:
                self._sum_next()

        return complete

    @property
    def _unsummed(self) -> int:
        return len(self._ends) - len(self._waits)

    def _sum_next(self) -> None:
        begin, end = [0, *self._ends][self._unsummed - 1 : self._unsummed + 1]
        self._waits.append(self._processes.begin_to_add_up(self._flat.sums[begin:end]))

    def finish(self) -> None:
        """Sum the rest, and have what follows wait for all sums."""
        while self._unsummed:
            self._sum_next()
        self._processes.add_up(self._flat.control)
        for wait in self._waits:
            wait()
        self._missing, self._waits = None, []
