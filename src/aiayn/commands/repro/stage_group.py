"""A DVC process that runs a group of stages: the running stage, its output, and how it ends."""

from __future__ import annotations

import glob
import os
import re
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from aiayn.commands.repro.dvc_commands import BLOCKER, BUSY, start_stages
from aiayn.results import paths, progress
from aiayn.results.progress import Fetching, P, Progress

# DVC's output
_RUNNING = re.compile(r"Running stage '(.+)':")
_UP_TO_DATE = re.compile(r"Stage '(.+)' (didn't change|is cached)\b")
_FAILED = re.compile(r"ERROR: failed to reproduce '(.+?)': (.*)")
_FAILED_OTHERWISE = re.compile(r"ERROR: (.*)")
_HINTS = re.compile(
    r"> |(Generating|Updating) lock file|To track the changes with git|\tgit add |"
    r"To enable auto staging|\tdvc config |Use `dvc push`|Data and pipelines are up to date"
)
_ERROR = re.compile(r"[\w.]*(Error|Exception|Interrupt)\b.*")  # the last line of a failed stage


@dataclass(frozen=True)
class Event:
    """A stage printed a line, ran, was restored from DVC's cache, was unchanged, failed, or waits
    for files that another process is using; `text` is the line, the duration, the error or the
    process id."""

    stage: str
    kind: Literal["printed", "ran", "cached", "unchanged", "failed", "busy"]
    text: str = ""


class StageGroup:
    """Stages that one DVC process runs sequentially, until one fails.

    Args:
        stages: as for `dvc repro`, in this order.
    """

    def __init__(self, stages: Sequence[str]) -> None:
        self.stage = ""  # the running stage
        self.has_ended = False  # and `events` has returned everything
        self.stages = stages
        self._started = time.time()
        self._error = ""  # the stage's last error message
        self._dvc_error = ""  # DVC's error message
        self._blocker = ""  # id of the process that is using the stage's files
        self._output = tempfile.NamedTemporaryFile()  # noqa: SIM115 (closed with the process)
        self._read = 0
        self._signalled: set[int] = set()
        self._process = start_stages(stages, self._output.fileno())

    @property
    def seconds(self) -> float:
        """Seconds since the running stage started."""
        return time.time() - self._started

    def events(self) -> Iterator[Event]:
        """The events since the last call."""
        status = self._process.poll()
        size = os.fstat(self._output.fileno()).st_size
        text = os.pread(self._output.fileno(), size - self._read, self._read)
        if status is None:
            text = text[: text.rfind(b"\n") + 1]
        self._read += len(text)
        for line in text.decode(errors="replace").splitlines():
            yield from self._parse(line)
        if status is not None:
            yield from self._last_events(status)
            self.has_ended = True

    def _parse(self, line: str) -> Iterator[Event]:
        if found := _RUNNING.fullmatch(line):
            yield from self._ran()
            self.stage, self._error, self._started = found[1], "", time.time()
        elif found := _UP_TO_DATE.match(line):
            yield from self._ran()
            yield Event(found[1], "cached" if found[2] == "is cached" else "unchanged")
        elif found := _FAILED.match(line):
            self.stage, self._dvc_error = found[1], found[2]
        elif found := _FAILED_OTHERWISE.match(line):
            self._dvc_error = self._dvc_error or found[1]
        elif BUSY.search(self._dvc_error):
            if found := BLOCKER.match(line):
                self._blocker = found[1]
        elif line.strip() and not _HINTS.match(line):
            if _ERROR.match(line):
                self._error = line
            yield Event(self.stage or self.stages[0], "printed", line)

    def _ran(self) -> Iterator[Event]:
        if self.stage:
            yield Event(self.stage, "ran", progress.clock(self.seconds))
            self.stage = ""

    def _last_events(self, status: int) -> Iterator[Event]:
        if status == 0:
            yield from self._ran()
            return
        if self._blocker:
            yield Event(self.stage or self.stages[0], "busy", self._blocker)
            return
        reason = self._error or self._dvc_error or f"dvc exited with status {status}"
        yield Event(self.stage or self.stages[0], "failed", reason)

    def progress(self) -> Progress | Fetching | None:
        """The progress of the running stage; see `progress_of`."""
        return progress_of(self.stage, self._started)

    def stop(self) -> None:
        """Terminate the running command, which saves its state; DVC then ends too. Between two
        commands there is none, so call this repeatedly until `has_ended`."""
        with suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self._process.pid).children(recursive=True):
                if process.pid not in self._signalled:
                    self._signalled.add(process.pid)
                    process.terminate()

    def kill(self) -> None:
        """Kill DVC and all its child processes."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Wait for the process's end."""
        self._process.wait()
        self._output.close()


def progress_of(stage: str, since: float) -> Progress | Fetching | None:
    """The progress of a training or of a task's downloads, in any process; None for other stages,
    and if none was written since the time `since`."""
    kind, _, item = stage.partition("@")
    if kind == "train":
        # an older start may have left the state of another fingerprint
        return _newest(Path(), paths.progress(paths.scratches(item)), Progress, since)
    if kind == "download":
        downloads = paths.project() / paths.DOWNLOADS
        return _newest(downloads, paths.fetching(Path(), glob.escape(item)), Fetching, since)
    return None


def _newest(folder: Path, pattern: Path, kind: type[P], since: float) -> P | None:
    with suppress(FileNotFoundError):  # a download deletes its file at the end
        newest = max(folder.glob(str(pattern)), key=_modified, default=None)
        if newest is not None and _modified(newest) >= since:
            return progress.read(newest, kind)
    return None


def _modified(path: Path) -> float:
    return path.stat().st_mtime
