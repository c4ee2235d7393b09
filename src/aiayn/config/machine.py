"""Where and how it is computed, and what starts the processes that compute."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from aiayn.validation import StrictModel, invalid

# what a launcher's command may ask for between braces
PLACEHOLDERS = ("stage", "scale", "gpus", "nodes", "folder", "project", "python")


class Machine(StrictModel):
    """What the models run on.

    `device: auto` is a GPU where there is one, `precision: auto` is bfloat16 products on a GPU and
    float32 on a CPU. `threads` are those of a process on a CPU; null leaves them to torch. Another
    number of threads adds up in another order, so it is a part of what decides the weights.
    """

    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    threads: PositiveInt | None


class Launcher(StrictModel):
    """What is put before a stage's own command line, like `torchrun --standalone`: `command` before
    a training's, which may be several processes; `single` before that of the other stages that
    compute with a model, which are one. null: the stage is the one process.

    A command may contain placeholders: `{stage}` (train@en-de.base), `{scale}`, `{gpus}` of each of
    a cluster's `{nodes}` (in `single` at most one of one), the project's `{folder}`, this
    `{python}`. Without `nodes` the GPUs are this machine's. Another launcher changes no byte of any
    output: no stage depends on it, and it re-runs nothing.
    """

    command: str | None
    single: str | None = None
    gpus: NonNegativeInt | None = None
    nodes: PositiveInt | None = None

    @model_validator(mode="after")
    def _check_commands(self) -> Self:
        known = {name: "" for name in PLACEHOLDERS if getattr(self, name, "") is not None}
        for key in ("command", "single"):
            command = getattr(self, key)
            if command is None:
                continue
            try:
                words = fill_in(command, known)
            except KeyError as error:
                raise invalid(key, _unknown_placeholder(error.args[0])) from None
            except (ValueError, IndexError, AttributeError) as error:
                raise invalid(key, f"cannot be read: {error}.") from None
            if not words:
                raise invalid(key, "is empty; write null, or a command like torchrun.")
        return self


def _unknown_placeholder(name: str) -> str:
    if name in PLACEHOLDERS:
        return f"asks for {{{name}}}: launcher.{name} is missing. Set it."
    known = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
    return f"asks for the unknown {{{name}}}. Known: {known}. For a literal brace write it twice."


def fill_in(command: str, values: Mapping[str, object]) -> list[str]:
    """The words of a launcher's command, its placeholders replaced by their values.

    Raises:
        KeyError: a placeholder has no value.
        ValueError, IndexError, AttributeError: quotes or braces are left open, or hold no name.
    """
    return [word.format_map(values) for word in shlex.split(command)]
