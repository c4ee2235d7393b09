"""Which stage may start next: pure arithmetic over names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass
class Schedule:
    """The stages of a graph, by name, between waiting and done.

    Args:
        upstream: of each stage, in the graph's order, the stages that it waits for.
        jobs: how many may run side by side.
        length: how long a training is, in whatever unit; 0 for a stage that is over soon.
    """

    upstream: Mapping[str, Collection[str]]
    jobs: int
    length: Callable[[str], int] = lambda name: 0
    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)

    def next(self) -> str | None:
        """The stage to start now, if any may.

        First what a training needs, so that it may begin, and what it leads to, so that this is
        soon seen; then what has to do with none; then trainings, the longest first. The shortest
        are last, so that no core idles for long while the last one runs.
        """
        if len(self.running) >= self.jobs:
            return None
        ready = [
            name
            for name in self.waiting
            if all(needed in self.done for needed in self.upstream[name])
        ]
        return min(ready, key=self._turn, default=None)

    def _turn(self, name: str) -> tuple[int, int]:
        rank = 2 if self.length(name) else 0 if name in self._around_trainings else 1
        return rank, -self.length(name)

    @cached_property
    def _around_trainings(self) -> set[str]:
        """What some training waits for, however far upstream, and what waits for one."""
        trainings = [name for name in self.upstream if self.length(name)]
        downstream: dict[str, list[str]] = {name: [] for name in self.upstream}
        for name, needed in self.upstream.items():
            for one in needed:
                downstream[one].append(name)
        return _reached(trainings, self.upstream) | _reached(trainings, downstream)

    @property
    def waiting(self) -> list[str]:
        """What has not been started, in the graph's order."""
        begun = {*self.done, *self.failed, *self.running}
        return [name for name in self.upstream if name not in begun]

    def start(self, name: str) -> None:
        self.running.append(name)

    def end(self, name: str, *, well: bool) -> None:
        """A running stage ended. What waits for a failed one will never start."""
        self.running.remove(name)
        (self.done if well else self.failed).append(name)


def _reached(starts: Iterable[str], following: Mapping[str, Collection[str]]) -> set[str]:
    """Whatever follows from the starts, step by step."""
    reached: set[str] = set()
    ahead = [*starts]
    while ahead:
        new = set(following[ahead.pop()]) - reached
        reached |= new
        ahead += new
    return reached
