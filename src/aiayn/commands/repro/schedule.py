"""Which stages are to run, in which groups, and which group starts next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter

from aiayn.errors import GraphError
from aiayn.validation import nearest

Graph = Mapping[str, Collection[str]]  # for each stage the stages whose outputs it reads


def required(graph: Graph, targets: Sequence[str]) -> set[str]:
    """The target stages, and those that they need; without targets, all.

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
    """The changed stages, and those that read, directly or not, what they write."""
    return reachable(_reversed(graph), changed)


def reachable(graph: Graph, starts: Iterable[str]) -> set[str]:
    """The starts, and whatever their edges lead to."""
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
    """The state of a graph that runs.

    The stages of one task, or of one run, are a group: one DVC process runs them one after the
    other, which saves the start of one for each.

    Args:
        graph: every stage.
        stages: what was asked for, with all that it needs.
        outdated: the stages that may have to run; the others are done.
        jobs: groups at a time.
        steps: of a stage that is a training; 0 for any other.
        failed: the reason of each stage that failed.
    """

    graph: Graph
    stages: Collection[str]
    outdated: Collection[str]
    jobs: int
    steps: Callable[[str], int] = lambda name: 0
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
        """Start the first group whose inputs are complete, if there is one and a job is free."""
        if self.running < self.jobs:
            for group in self._waiting:
                if all(self.done.union(group).issuperset(self.graph[name]) for name in group):
                    self._waiting.remove(group)
                    self.running += 1
                    return group
        return None

    def put_back(self, group: Sequence[str]) -> None:
        """Let a group that was started start again, without its stages that are done."""
        if rest := [name for name in group if name not in self.done]:
            self._waiting.insert(0, rest)

    @property
    def blocked(self) -> list[str]:
        """The stages that were not started."""
        return sorted({*self.stages} - self.done - {*self.failed})

    def unfinished(self) -> dict[str, str]:
        """The tasks and runs of the stages that failed or were not started, and the stages of
        neither that failed: for each the first failed stage that it needs, and the reason."""
        found: dict[str, str] = {}
        for name in [*self.failed, *self.blocked]:
            needed = reachable(self.graph, [name])
            cause, reason = next(item for item in self.failed.items() if item[0] in needed)
            item = name.partition("@")[2]
            if item or name in self.failed:
                found.setdefault(item or name, f"{cause}: {reason}")
        return found

    def _priority(self, group: Sequence[str]) -> tuple[int, int]:
        """Trainings last, the longest first, so that no core idles for long at the end; before
        them the groups that most stages wait for."""
        if steps := sum(map(self.steps, group)):
            return 1, -steps
        return 0, -len(reachable(self._downstream, group))

    @cached_property
    def _downstream(self) -> Graph:
        return _reversed(self.graph)
