"""Running a graph: several stages at a time, each failure named at once, the rest going on."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TextIO

from aiayn import config
from aiayn.commands.repro.child import Child
from aiayn.commands.repro.display import Display
from aiayn.commands.repro.graph import Graph
from aiayn.commands.repro.schedule import Schedule
from aiayn.errors import GraphError
from aiayn.results.progress import clock

TICK_SECONDS = 0.1
LOCK_SECONDS = 60.0  # between two writings of dvc.lock, which cost a second each
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def repro(targets: Sequence[str], jobs: int | None) -> None:
    """Run what DVC says is to run, of the project in the current folder.

    Args:
        targets: stages, as for `dvc repro`; without any, all.
        jobs: stages side by side; None: as many as the cores carry with the threads that the
            parameters give each, and one after the other where these are left open.
    Raises:
        ConfigError, GraphError: there is nothing that could be run.
        SystemExit: with status 1 if a stage failed, 128 + n after signal n.
    """
    params = config.load()
    threads = params.machine.threads
    jobs = jobs or max(1, (os.cpu_count() or 1) // threads if threads else 1)
    # processes that share the cores must not wait for each other by spinning
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    if sys.stderr.isatty():  # DVC is imported and reads the graph for seconds
        print("Looking for what is to run ...", file=sys.stderr)
    graph = Graph(targets)
    steps = {f"train@{name}": params.model_of(name).steps for name in params.runs}
    schedule = Schedule(graph.upstream, jobs, lambda name: steps.get(name, 0))
    signals = run(graph, schedule)
    if signals:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        sys.exit(128 + signals[0])
    if schedule.failed:
        sys.exit(
            f"{len(schedule.failed)} of {len(schedule.upstream)} stages failed, and "
            f"{len(schedule.waiting)} that need them did not run: {', '.join(schedule.failed)}. "
            "The same command tries these alone."
        )


def run(graph: Graph, schedule: Schedule, stream: TextIO = sys.stderr) -> Sequence[int]:
    """Until nothing runs and nothing may start. Tells a stream; returns the signals that came.

    A signal starts nothing more and lets what runs save and end; a second one ends it at once.
    """
    display = Display(schedule, stream)
    try:
        with _noting_signals() as signals:
            _Run(graph, schedule, display, signals).go()
    finally:
        display.close()
        graph.close()
    return signals


@dataclass
class _Run:
    graph: Graph
    schedule: Schedule
    display: Display
    signals: list[int]

    def __post_init__(self) -> None:
        self._children: list[Child] = []
        self._told = 0  # signals that the children know of
        self._written = time.monotonic()

    def go(self) -> None:
        try:
            self._start()
            while self._children:
                if time.monotonic() - self._written > LOCK_SECONDS:
                    self._write_lock()
                self.display.show(self._children)
                time.sleep(TICK_SECONDS)
                self._collect()
                self._start()
        finally:  # only after an error of our own is any left
            for child in self._children:
                child.stop()
                child.close()

    def _start(self) -> None:
        """Whatever may start now; or, after a signal, end what runs."""
        while not self.signals and (name := self.schedule.next()):
            self.schedule.start(name)
            self.display.show(self._children)  # of a hundred stages, to look takes a while
            try:
                well = self._begin(name)
            except GraphError as error:
                self._failed(name, str(error))
            else:
                if well:
                    self.schedule.end(name, well=True)
        if len(self.signals) > self._told:
            self._told = len(self.signals)
            for child in self._children:
                child.stop(at_once=self._told > 1)

    def _begin(self, name: str) -> bool:
        """Start a stage; True if it is done already."""
        if not self.graph.is_changed(name):
            return True
        if "@" not in name:  # report and track look into dvc.lock
            self._write_lock()
        if not self.graph.begin(name):
            self.display.say(f"{name}: from DVC's cache")
            return True
        command, environment = self.graph.command(name), self.graph.environment(name)
        self._children.append(Child(name, command, environment))
        return False

    def _collect(self) -> None:
        """What the children say, and those that have ended."""
        for child in [*self._children]:
            status = child.status
            for line in child.lines():
                self.display.say(f"{child.name} | {line}")
            if status is None:
                continue
            self._children.remove(child)
            child.close()
            if status:
                self.graph.abandon(child.name)
                self._failed(child.name, child.reason)
                continue
            try:
                self.graph.end(child.name)
            except GraphError as error:
                self._failed(child.name, str(error))
            else:
                self.schedule.end(child.name, well=True)
                self.display.say(f"{child.name}: done in {clock(child.seconds)}")

    def _failed(self, name: str, reason: str) -> None:
        self.schedule.end(name, well=False)
        if not self.signals:
            self.display.say(f"{name} FAILED: {reason}")

    def _write_lock(self) -> None:
        self.graph.write_lock()
        self._written = time.monotonic()


@contextmanager
def _noting_signals() -> Iterator[list[int]]:
    """The signals to end that have come, to act on between two stages' steps."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)

    previous = {number: signal.signal(number, note) for number in ENDS}
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
