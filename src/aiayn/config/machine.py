"""The device, its precision and threads, and the launcher of a stage's processes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from aiayn.validation import StrictModel, invalid

# placeholders of a launcher's command
PLACEHOLDERS = ("stage", "scale", "gpus", "nodes", "folder", "project", "python")


class Machine(StrictModel):
    """What the models run on.

    `device: auto` is a GPU if there is one; `precision: auto` is bfloat16 products on a GPU and
    float32 on a CPU. `threads` are those of each process on a CPU; null leaves them to torch. The
    number of threads changes the order of summation and so the trained weights.
    """

    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    threads: PositiveInt | None


class Launcher(StrictModel):
    """A prefix of a stage's command line, like `torchrun --standalone`: `command` for a training,
    which may be several processes; `single` for the other stages that compute with a model, which
    are one process. null: the stage runs as one process, without a launcher.

    A command may contain placeholders: `{stage}` (train@en-de.base), `{scale}`, `{gpus}` per node
    and `{nodes}` (in `single`, at most one GPU of one node), the scale's `{folder}`, the
    `{project}`'s folder, this `{python}`. Without `nodes` the GPUs are this machine's. The launcher
    does not affect outputs: no stage depends on it, and a change re-runs nothing.
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
        return f"uses {{{name}}}, but launcher.{name} is missing. Set it."
    known = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
    return f"uses the unknown placeholder {{{name}}}. Known: {known}. Write a literal brace twice."


def fill_in(command: str, values: Mapping[str, object]) -> list[str]:
    """The words of a launcher's command, with placeholders replaced by their values.

    Raises:
        KeyError: a placeholder has no value.
        ValueError, IndexError, AttributeError: unbalanced quotes or braces, or an invalid
            placeholder.
    """
    return [word.format_map(values) for word in shlex.split(command)]
