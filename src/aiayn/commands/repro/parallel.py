"""Runs a graph: several groups of stages at a time; a failure stops only what depends on it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

import psutil

from aiayn import config
from aiayn.commands.repro import partial_report
from aiayn.commands.repro.display import QUIET_SECONDS, Display
from aiayn.commands.repro.dvc_commands import BusyError, changed_stages, read_graph
from aiayn.commands.repro.schedule import Schedule, outdated, required
from aiayn.commands.repro.stage_group import Event, StageGroup, progress_of
from aiayn.results import failures, paths

TICK_SECONDS = 0.1
LOOK_SECONDS = 1.0  # after which another process is looked for again
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def repro(targets: Sequence[str], jobs: int | None) -> None:
    """Bring the pipeline in the current folder up to date. A stage that another process runs is
    waited for, and not run again.

    Args:
        targets: stages, as for `dvc repro`; without any, all.
        jobs: groups of stages at a time; None: as many as the cores allow with the threads that the
            parameters give each, and one where these leave them open.
    Raises:
        ConfigError, GraphError: parameters or dvc.yaml are wrong; nothing was run.
        SystemExit: with status 1 if a stage failed, when a report of the rest is there; 128 + n
            after signal n.
    """
    params = config.load()  # before DVC puts names from it into commands
    threads = params.machine.threads
    jobs = jobs or max(1, (os.cpu_count() or 1) // threads if threads else 1)
    # processes that share the cores must not wait for each other by spinning
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    if sys.stderr.isatty():
        print("Looking for changes ...", file=sys.stderr)
    changed = _changed_once_free([*params.runs])
    if not changed and not targets:
        print("Nothing to do: every stage is up to date.", file=sys.stderr)
        return
    graph = read_graph()
    stages = required(graph, targets)
    to_run = outdated(graph, changed & stages) & stages
    steps = {f"train@{name}": params.model_of(name).steps for name in params.runs}
    schedule = Schedule(graph, stages, to_run, jobs, lambda name: steps.get(name, 0))
    signals = run(schedule)
    if signals:
        print("Stopped. The same command continues from here.", file=sys.stderr)
        sys.exit(128 + signals[0])
    failures.write(paths.FAILURES, schedule.unfinished())
    if schedule.failed:
        partial_report.render(schedule, params)
        sys.exit(
            f"{len(schedule.failed)} of {len(stages)} stages failed, and {len(schedule.blocked)} "
            f"that need them did not run: {', '.join(schedule.failed)}. "
            "The same command runs these alone."
        )


def _changed_once_free(runs: Sequence[str] = ()) -> frozenset[str]:
    """The changed stages, once no other process works on what has to be looked at. Until then, the
    progress of the trainings among `runs` is told."""
    while True:
        try:
            return changed_stages()
        except BusyError as busy:
            print(f"Process {busy.pid} runs stages here: waiting for it.", file=sys.stderr)
            begun, told = time.time(), time.monotonic()
            while psutil.pid_exists(busy.pid):
                time.sleep(LOOK_SECONDS)
                if time.monotonic() - told >= QUIET_SECONDS:
                    told = time.monotonic()
                    line = waiting_line(busy.pid, [f"train@{run}" for run in runs], begun)
                    print(line, file=sys.stderr)


def run(schedule: Schedule, stream: TextIO = sys.stderr) -> Sequence[int]:
    """Run what the schedule has until nothing more can start.

    A signal stops the running stages, which save first; a second one kills them.

    Args:
        stream: for progress and what the stages print.
    Returns:
        The signals received.
    """
    display = Display(schedule, stream)
    groups: list[StageGroup] = []
    postponed: list[tuple[StageGroup, int, float]] = []  # until a process ends, since a time
    with _received_signals() as signals:
        try:
            while True:
                while not signals and (stages := schedule.start_next()):
                    groups.append(StageGroup(stages))
                if not groups and (signals or not postponed):
                    break
                display.show(groups, [_waiting(*one) for one in postponed])
                time.sleep(TICK_SECONDS if groups else LOOK_SECONDS)
                for one in [*postponed]:
                    if not psutil.pid_exists(one[1]):
                        postponed.remove(one)
                        schedule.put_back(one[0].stages)
                for group in [*groups]:
                    for event in group.events():
                        if event.kind == "busy":
                            postponed.append((group, int(event.text), time.time()))
                        _handle(event, schedule, display, stopped=bool(signals))
                    if group.has_ended:
                        groups.remove(group)
                        group.close()
                        schedule.running -= 1
                    elif len(signals) == 1:
                        group.stop()
                    elif signals:
                        group.kill()
        finally:
            for group in groups:  # left only by an error of our own
                group.kill()
                group.close()
            display.close()
    return signals


def _waiting(group: StageGroup, pid: int, since: float) -> str:
    kinds = ("download", "train")
    items = dict.fromkeys(stage.partition("@")[2] for stage in group.stages)
    stages = [f"{kind}@{item}" for item in items for kind in kinds]
    return f"{group.stages[0]}: {waiting_line(pid, stages, since)}"


def waiting_line(pid: int, stages: Sequence[str], since: float) -> str:
    """Which process is waited for, and how far those of its stages are that have said so since."""
    found = {stage: progress_of(stage, since) for stage in stages}
    told = [f"{stage}: {progress}" for stage, progress in found.items() if progress]
    return "; ".join([f"waiting for process {pid}", *told])


def _handle(event: Event, schedule: Schedule, display: Display, *, stopped: bool) -> None:
    match event.kind:
        case "printed":
            display.print(f"{event.stage} | {event.text}")
        case "failed" if not stopped:
            schedule.failed[event.stage] = event.text
            display.print(f"{event.stage} FAILED: {event.text}")
        case "busy":
            display.print(f"{event.stage}: process {event.text} runs it, or what it reads; waiting")
        case "ran" | "cached" | "unchanged":
            schedule.done.add(event.stage)
            if event.kind == "ran":
                display.print(f"{event.stage}: done in {event.text}")
            elif event.kind == "cached":
                display.print(f"{event.stage}: from DVC's cache")


@contextmanager
def _received_signals() -> Iterator[list[int]]:
    """The signals to stop that have come, in place of what they do by default."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)

    previous = {number: signal.signal(number, note) for number in STOP_SIGNALS}
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
