"""How far a training, or a download, is: written while it runs for whoever watches. No stage reads
it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

LOG = "AIAYN_LOG"  # in the environment of what writes into a log, where no bar is drawn


@dataclass(frozen=True)
class Progress:
    """A training at its last line of history."""

    step: int
    steps: int  # in all
    loss: float  # of the training text, label smoothing included, nats a token
    tokens_per_second: float  # real target tokens, validation left out
    seconds_left: float  # at the speed of this start

    def __str__(self) -> str:
        return (
            f"step {self.step:,} of {self.steps:,}, loss {self.loss:.3f}, "
            f"{self.tokens_per_second:,.0f} tokens/s, {clock(self.seconds_left)} left"
        )


@dataclass(frozen=True)
class Fetching:
    """A task's downloads, all together."""

    files: int  # that are here
    files_in_all: int
    bytes: int  # that are here, of all files
    bytes_in_all: int  # as far as is known
    bytes_per_second: float  # lately

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
    """As 0:07, 12:30 or 26:15:00."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def write(path: Path, progress: Progress | Fetching) -> None:
    """Replace `path`. It need not survive a power cut, so this waits for no disk. With LOG
    in the environment it is printed too."""
    if LOG in os.environ:
        print(progress, flush=True)
    partial = path.with_name(f".{path.name}.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text(json.dumps(asdict(progress)) + "\n", encoding="utf-8")
    partial.replace(path)


def read(path: Path, kind: type[P]) -> P | None:
    """What `write` wrote; None where there is no such file, or none of this version."""
    try:
        return kind(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
