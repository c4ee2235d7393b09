"""Where and how it is computed, and what starts a training's processes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

from aiayn.config.rules import positive, require
from aiayn.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What the models run on.

    `device: auto` is a GPU where there is one, `precision: auto` is bfloat16 products on a GPU and
    float32 on a CPU. `threads` are those of a process on a CPU; null leaves them to torch. Another
    number of threads adds up in another order, so it is a part of what decides the weights.
    """

    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    threads: int | None

    def check(self) -> None:
        """Raises ConfigError where nothing could be computed so."""
        positive("machine.threads", self.threads)


@dataclass(frozen=True, kw_only=True)
class Launcher:
    """What starts the processes of a training: `command` is put before the stage's own command
    line, like `torchrun --standalone --nproc-per-node=8`; null: the stage is the one process.

    It changes no byte of the weights: no stage lists it, and another one re-runs nothing.
    """

    command: str | None

    def check(self) -> None:
        """Raises ConfigError where there is no command."""
        if self.command is None:
            return
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise ConfigError(f"launcher.command cannot be read: {error}.") from None
        require(bool(words), "launcher.command", "is empty; write null, or a command like torchrun")
