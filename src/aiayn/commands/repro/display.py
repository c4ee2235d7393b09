"""What a person sees of a graph that runs: a line for each running stage in a terminal, a line
every half minute elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import NoReturn, TextIO

from tqdm import tqdm

from aiayn.commands.repro.child import Child
from aiayn.commands.repro.schedule import Schedule
from aiayn.results.progress import clock

QUIET_SECONDS = 30.0


class Display:
    """Writes to a stream; what it says of a stage once stays, above the lines that change.

    Args:
        schedule: the graph's state.
        stream: a terminal or not.
    """

    def __init__(self, schedule: Schedule, stream: TextIO = sys.stderr) -> None:
        self._schedule = schedule
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._bars: list[tqdm[NoReturn]] = []
        self._begun = self._shown = time.monotonic()

    def say(self, line: str) -> None:
        """A line that stays."""
        tqdm.write(line, file=self._stream)
        self._stream.flush()

    def show(self, children: Sequence[Child]) -> None:
        """How far everything is, if it is time to tell."""
        if self._is_terminal:
            self._draw([f"  {state(child)}" for child in children] + [self._summary()])
        elif time.monotonic() - self._shown >= QUIET_SECONDS:
            self._shown = time.monotonic()
            self.say("; ".join([self._summary(), *map(state, children)]))

    def close(self) -> None:
        """Take the changing lines away; how far everything came stays."""
        self._draw([])
        self.say(self._summary())

    def _summary(self) -> str:
        done, failed, all_ = (
            len(x) for x in (self._schedule.done, self._schedule.failed, self._schedule.upstream)
        )
        parts = [f"{done} of {all_} stages done", clock(time.monotonic() - self._begun)]
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


def state(child: Child) -> str:
    """A stage that runs, in a line: how far a training is, or since when."""
    progress = child.progress()
    return f"{child.name}: {progress or clock(child.seconds)}"
