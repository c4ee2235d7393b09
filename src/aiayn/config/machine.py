"""Where and how it is computed, and what starts the processes that compute."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from aiayn.config.rules import positive, require
from aiayn.errors import ConfigError

# what a launcher's command may ask for between braces
PLACEHOLDERS = ("stage", "scale", "gpus", "nodes", "folder", "project", "python")


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
    """What is put before a stage's own command line, like `torchrun --standalone`: `command` before
    a training's, which may be several processes; `single` before that of the other stages that
    compute with a model, which are one. null: the stage is the one process.

    In braces stands what is known when a stage starts: `{stage}` (train@en-de.base), `{scale}`,
    `{gpus}` of each of a cluster's `{nodes}` (in `single` at most one of one), the project's
    `{folder}`, this `{python}`. Without `nodes` the GPUs are this machine's. Another launcher
    changes no byte of what is made: no stage lists it, and it re-runs nothing.
    """

    command: str | None
    single: str | None = None
    gpus: int | None = None
    nodes: int | None = None

    def check(self) -> None:
        """Raises ConfigError where there is no command, or it asks for what is not known."""
        require(self.gpus is None or self.gpus >= 0, "launcher.gpus", "must not be negative")
        positive("launcher.nodes", self.nodes)
        for key, command in (("launcher.command", self.command), ("launcher.single", self.single)):
            if command is None:
                continue
            known = {name: "" for name in PLACEHOLDERS if getattr(self, name, "") is not None}
            try:
                words = spelled_out(command, known)
            except KeyError as error:
                raise ConfigError(f"{key} {_unknown(error.args[0])}") from None
            except (ValueError, IndexError, AttributeError) as error:
                raise ConfigError(f"{key} cannot be read: {error}.") from None
            require(bool(words), key, "is empty; write null, or a command like torchrun")


def _unknown(name: str) -> str:
    if name in PLACEHOLDERS:
        return f"asks for {{{name}}}: launcher.{name} is missing. Set it."
    there = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
    return f"asks for {{{name}}}, and there is {there}. For a brace itself write it twice."


def spelled_out(command: str, known: Mapping[str, object]) -> list[str]:
    """The words of a launcher's command with what is `known` in the place of its placeholders.

    Raises:
        KeyError: a placeholder is not known.
        ValueError, IndexError, AttributeError: quotes or braces are left open, or hold no name.
    """
    return [word.format_map(known) for word in shlex.split(command)]
