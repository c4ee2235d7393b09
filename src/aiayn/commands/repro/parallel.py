"""Runs a graph, several groups of stages in parallel; a failure stops only stages downstream."""

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
from aiayn.paper.findings import statements
from aiayn.results import failures, paths

TICK_SECONDS = 0.1
POLL_SECONDS = 1.0  # while waiting for another process
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def repro(targets: Sequence[str], jobs: int | None) -> None:
    """Bring the pipeline in the current folder up to date. If another process is running a stage,
    wait for it instead of running the stage again.

    Args:
        targets: stages, as for `dvc repro`; without any, all.
        jobs: groups of stages in parallel; None: number of cores / machine.threads, or one if the
            parameters do not set the threads.
    Raises:
        ConfigError, GraphError: parameters or dvc.yaml are wrong; nothing was run.
        SystemExit: with status 1 if a stage failed, after rendering a report of the rest; with
            128 + n after signal n.
    """
    params = config.load()  # validate names before DVC uses them in commands
    statements(params.variations.measures)  # and the preregistration before anything is trained
    threads = params.machine.threads
    jobs = jobs or max(1, (os.cpu_count() or 1) // threads if threads else 1)
    # no long busy-waiting: the processes share the cores
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
    schedule = Schedule(graph, stages, to_run, jobs, steps)
    signals = run(schedule)
    if signals:
        print("Stopped. Run the same command to continue.", file=sys.stderr)
        sys.exit(128 + signals[0])
    failures.write(paths.FAILURES, schedule.unfinished())
    if schedule.failed:
        partial_report.render(schedule, params)
        sys.exit(
            f"{len(schedule.failed)} of {len(stages)} stages failed: {', '.join(schedule.failed)}; "
            f"{len(schedule.blocked)} that depend on them did not run. Run the same command to "
            "retry only these."
        )


def _changed_once_free(runs: Sequence[str] = ()) -> frozenset[str]:
    """The changed stages, after waiting for processes that are using the graph's files. Meanwhile,
    prints the progress of trainings among `runs`."""
    while True:
        try:
            return changed_stages()
        except BusyError as busy:
            print(f"Waiting for process {busy.pid}, which is running stages here.", file=sys.stderr)
            begun, printed = time.time(), time.monotonic()
            while psutil.pid_exists(busy.pid):
                time.sleep(POLL_SECONDS)
                if time.monotonic() - printed >= QUIET_SECONDS:
                    printed = time.monotonic()
                    line = waiting_line(busy.pid, [f"train@{run}" for run in runs], begun)
                    print(line, file=sys.stderr)


def run(schedule: Schedule, stream: TextIO = sys.stderr) -> Sequence[int]:
    """Run the schedule until nothing more can start.

    A signal stops the running stages, which save first; a second one kills them.

    Args:
        stream: for progress and the stages' output.
    Returns:
        The signals received.
    """
    display = Display(schedule, stream)
    groups: list[StageGroup] = []
    postponed: list[tuple[StageGroup, int, float]] = []  # with the blocking process, and the time
    with _received_signals() as signals:
        try:
            while True:
                while not signals and (stages := schedule.start_next()):
                    groups.append(StageGroup(stages))
                if not groups and (signals or not postponed):
                    break
                display.show(groups, [_waiting(*one) for one in postponed])
                time.sleep(TICK_SECONDS if groups else POLL_SECONDS)
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
            for group in groups:  # only after an exception
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
    """The process that is waited for, and the progress of those stages that have reported any."""
    found = {stage: progress_of(stage, since) for stage in stages}
    lines = [f"{stage}: {progress}" for stage, progress in found.items() if progress]
    return "; ".join([f"waiting for process {pid}", *lines])


def _handle(event: Event, schedule: Schedule, display: Display, *, stopped: bool) -> None:
    match event.kind:
        case "printed":
            display.print(f"{event.stage} | {event.text}")
        case "failed" if not stopped:
            schedule.failed[event.stage] = event.text
            display.print(f"{event.stage} FAILED: {event.text}")
        case "busy":
            display.print(f"{event.stage}: waiting for process {event.text}, which uses its files")
        case "ran" | "cached" | "unchanged":
            schedule.done.add(event.stage)
            if event.kind == "ran":
                display.print(f"{event.stage}: done in {event.text}")
            elif event.kind == "cached":
                display.print(f"{event.stage}: from DVC's cache")


@contextmanager
def _received_signals() -> Iterator[list[int]]:
    """Collects the STOP_SIGNALS that arrive, instead of their default action."""
    received: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        received.append(number)

    previous = {number: signal.signal(number, handle) for number in STOP_SIGNALS}
    try:
        yield received
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
