"""Scheduling: which stages must run, in which groups, and which group starts next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter

from aiayn.errors import GraphError
from aiayn.validation import nearest

Graph = Mapping[str, Collection[str]]  # for each stage, the stages it depends on


def required(graph: Graph, targets: Sequence[str]) -> set[str]:
    """The target stages and those they depend on; without targets, all.

    Args:
        targets: as for `dvc repro`: `train@en-de.base`, or `train` for every stage of that name.
    Raises:
        GraphError: there is no such stage.
    """
    found: set[str] = set()
    for target in targets:
        named = {name for name in graph if name == target or name.startswith(f"{target}@")}
        if not named:
            names = graph if "@" in target else (name.partition("@")[0] for name in graph)
            near = nearest(target, dict.fromkeys(names))
            raise GraphError(f"dvc.yaml: there is no stage {target!r}.{near}")
        found |= named
    return reachable(graph, found) if targets else {*graph}


def outdated(graph: Graph, changed: Iterable[str]) -> set[str]:
    """The changed stages and all stages downstream."""
    return reachable(_reversed(graph), changed)


def reachable(graph: Graph, starts: Iterable[str]) -> set[str]:
    """The starts and all stages reachable from them."""
    found: set[str] = set()
    waiting = [*starts]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph[name]
    return found


def _reversed(graph: Graph) -> dict[str, list[str]]:
    downstream: dict[str, list[str]] = {name: [] for name in graph}
    for name, sources in graph.items():
        for source in sources:
            downstream[source].append(name)
    return downstream


@dataclass
class Schedule:
    """The state of a running graph.

    The stages of one task, or of one run, are a group: one DVC process runs them sequentially,
    which avoids starting DVC for each.

    Args:
        graph: every stage.
        stages: the requested stages and those they depend on.
        outdated: the stages that may have to run; the others are done.
        jobs: number of groups in parallel.
        steps: the steps of each training.
        failed: the error of each failed stage.
    """

    graph: Graph
    stages: Collection[str]
    outdated: Collection[str]
    jobs: int
    steps: Mapping[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    running: int = 0

    def __post_init__(self) -> None:
        self.done = {*self.stages} - {*self.outdated}
        groups: dict[str, list[str]] = defaultdict(list)
        for name in TopologicalSorter(self.graph).static_order():
            if name in self.stages and name not in self.done:
                groups[name.partition("@")[2] or name].append(name)
        self._waiting = sorted(groups.values(), key=self._priority)

    def start_next(self) -> list[str] | None:
        """Start the first group whose inputs are complete, if any, and if a job is free."""
        if self.running < self.jobs:
            for group in self._waiting:
                if all(self.done.union(group).issuperset(self.graph[name]) for name in group):
                    self._waiting.remove(group)
                    self.running += 1
                    return group
        return None

    def put_back(self, group: Sequence[str]) -> None:
        """Return a started group to the queue, without its stages that are done."""
        if rest := [name for name in group if name not in self.done]:
            self._waiting.insert(0, rest)

    @property
    def blocked(self) -> list[str]:
        """The stages that were not started."""
        return sorted({*self.stages} - self.done - {*self.failed})

    def unfinished(self) -> dict[str, str]:
        """The tasks and runs of stages that failed or were not started, and failed stages without
        either; for each, the first failed stage that it depends on, and the error."""
        found: dict[str, str] = {}
        for name in [*self.failed, *self.blocked]:
            needed = reachable(self.graph, [name])
            cause, reason = next(item for item in self.failed.items() if item[0] in needed)
            item = name.partition("@")[2]
            if item or name in self.failed:
                found.setdefault(item or name, f"{cause}: {reason}")
        return found

    def _priority(self, group: Sequence[str]) -> tuple[int, int]:
        """First the groups with the most stages downstream; then trainings, the longest first, so
        that no core is idle for long at the end."""
        if steps := sum(self.steps.get(name, 0) for name in group):
            return 1, -steps
        return 0, -len(reachable(self._downstream, group))

    @cached_property
    def _downstream(self) -> Graph:
        return _reversed(self.graph)
