"""How far a training is: written while it runs for whoever watches. No stage reads it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


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


def clock(seconds: float) -> str:
    """As 0:07, 12:30 or 26:15:00."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def write(path: Path, progress: Progress) -> None:
    """Replace `path`. It need not survive a power cut, so this waits for no disk."""
    partial = path.with_name(f".{path.name}.partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text(json.dumps(asdict(progress)) + "\n", encoding="utf-8")
    partial.replace(path)


def read(path: Path) -> Progress | None:
    """What `write` wrote; None where there is no such file, or none of this version."""
    try:
        return Progress(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
