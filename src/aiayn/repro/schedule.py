"""Which stage may start next: pure arithmetic over names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field


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

        Short stages first, so that what a training needs is soon there and what it leads to is soon
        seen; among trainings the longest first, so that no core idles while the last one runs.
        """
        if len(self.running) >= self.jobs:
            return None
        ready = [
            name
            for name in self.waiting
            if all(needed in self.done for needed in self.upstream[name])
        ]
        return min(ready, key=self._turn, default=None)

    def _turn(self, name: str) -> tuple[bool, int]:
        return self.length(name) > 0, -self.length(name)

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
