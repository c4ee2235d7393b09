"""What starts the processes of a training: torchrun, or nothing but the stage itself."""

from __future__ import annotations

import os
import shlex
import sys

from aiayn.config import Launcher
from aiayn.errors import ConfigError

# torchrun tells each process how many there are; ours tells of any other launcher
STARTED = ("WORLD_SIZE", "AIAYN_LAUNCHED")


def hand_over(launcher: Launcher) -> None:
    """Put the launcher into the place of this process, with the same script and arguments.

    It is the same process to whoever started it: signals reach the launcher, and its exit code is
    the stage's. Returns where there is no launcher, or it has already started this process.

    Raises:
        ConfigError: there is no such program.
    """
    if launcher.command is None or any(name in os.environ for name in STARTED):
        return
    program, *arguments = shlex.split(launcher.command)
    os.environ["AIAYN_LAUNCHED"] = program
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(program, [program, *arguments, *sys.argv])
    except OSError as error:
        raise ConfigError(
            f"params.yaml: launcher.command starts {program!r}: {error.strerror}. "
            "Install it, correct the command, or set launcher=python."
        ) from error
