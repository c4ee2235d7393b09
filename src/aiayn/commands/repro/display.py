"""Progress display of a running graph: one line per running stage in a terminal, else a summary
line every half minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import NoReturn, TextIO

from tqdm import tqdm

from aiayn.commands.repro.schedule import Schedule
from aiayn.commands.repro.stage_group import StageGroup
from aiayn.results.progress import clock

QUIET_SECONDS = 30.0


class Display:
    """Prints permanent lines and, in a terminal, progress lines below them.

    Args:
        schedule: the graph's state.
        stream: a terminal or another stream.
    """

    def __init__(self, schedule: Schedule, stream: TextIO = sys.stderr) -> None:
        self._schedule = schedule
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._bars: list[tqdm[NoReturn]] = []
        self._started = self._shown = time.monotonic()

    def print(self, line: str) -> None:
        """Print a permanent line."""
        tqdm.write(line, file=self._stream)
        self._stream.flush()

    def show(self, groups: Sequence[StageGroup], waiting: Sequence[str] = ()) -> None:
        """Show the progress of all running stages, if it is due, and `waiting`: lines about
        processes that are waited for."""
        lines = [*(progress_line(group) for group in groups if group.stage), *waiting]
        if self._is_terminal:
            self._draw([*(f"  {line}" for line in lines), self._summary()])
        elif time.monotonic() - self._shown >= QUIET_SECONDS:
            self._shown = time.monotonic()
            self.print("; ".join([self._summary(), *lines]))

    def close(self) -> None:
        """Remove the progress lines, and print a summary."""
        self._draw([])
        self.print(self._summary())

    def _summary(self) -> str:
        done, failed, total = map(
            len, (self._schedule.done, self._schedule.failed, self._schedule.stages)
        )
        parts = [f"{done} of {total} stages done", clock(time.monotonic() - self._started)]
        return ", ".join([*parts, f"{failed} failed"] if failed else parts)

    def _draw(self, lines: Sequence[str]) -> None:
        while len(self._bars) < len(lines):
            self._bars.append(
                tqdm(bar_format="{desc}", file=self._stream, dynamic_ncols=True, leave=False,
                     position=len(self._bars), disable=False)
            )  # fmt: skip
        while len(self._bars) > len(lines):
            self._bars.pop().close()
        for bar, line in zip(self._bars, lines, strict=True):
            bar.set_description_str(line)


def progress_line(group: StageGroup) -> str:
    """The running stage and its progress, or the time since it started."""
    return f"{group.stage}: {group.progress() or clock(group.seconds)}"
