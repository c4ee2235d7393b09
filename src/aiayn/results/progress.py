"""Progress of a training or a download, written while it runs, for display. No stage reads it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

LOG = "AIAYN_LOG"  # environment variable: print progress lines into a log, without a bar


@dataclass(frozen=True)
class Progress:
    """A training at the last line of its history."""

    step: int
    steps: int  # total
    loss: float  # training loss with label smoothing, nats per token
    tokens_per_second: float  # target tokens, without padding and validation
    seconds_left: float  # at the speed since this start

    def __str__(self) -> str:
        return (
            f"step {self.step:,} of {self.steps:,}, loss {self.loss:.3f}, "
            f"{self.tokens_per_second:,.0f} tokens/s, {clock(self.seconds_left)} left"
        )


@dataclass(frozen=True)
class Fetching:
    """All downloads of a task."""

    files: int  # complete
    files_in_all: int
    bytes: int  # downloaded, of all files
    bytes_in_all: int  # as far as known
    bytes_per_second: float  # recent

    def __str__(self) -> str:
        rest = self.bytes_in_all - self.bytes
        left = clock(rest / self.bytes_per_second) if self.bytes_per_second else "unknown time"
        return (
            f"{self.files} of {self.files_in_all} files, "
            f"{self.bytes / 1e6:,.1f} of {self.bytes_in_all / 1e6:,.1f} MB, "
            f"{self.bytes_per_second / 1e6:,.1f} MB/s, {left} left"
        )


P = TypeVar("P", Progress, Fetching)


def clock(seconds: float) -> str:
    """A duration such as 0:07, 12:30 or 26:15:00."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def write(path: Path, progress: Progress | Fetching) -> None:
    """Replace `path`, without fsync: it need not survive a power cut. With LOG in the environment,
    the progress is also printed."""
    if LOG in os.environ:
        print(progress, flush=True)
    partial = path.with_name(f".{path.name}.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text(json.dumps(asdict(progress)) + "\n", encoding="utf-8")
    partial.replace(path)


def read(path: Path, kind: type[P]) -> P | None:
    """What `write` wrote; None if the file is missing or of another version."""
    try:
        return kind(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
