"""Starting a stage's processes: by torchrun, by a scheduler, or as the one process of the stage."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from aiayn import config
from aiayn.config import Launcher
from aiayn.config.machine import fill_in
from aiayn.errors import ConfigError
from aiayn.results import paths

# set by torchrun, and by us before any launcher
STARTED = ("WORLD_SIZE", "AIAYN_LAUNCHED")


def device_of(device: str, launcher: Launcher) -> str:
    """machine.device; with a launcher that has GPUs, `auto` means cuda: a node without a visible
    GPU is then an error, instead of training on its CPUs.
    """
    has_gpus = launcher.command is not None and bool(launcher.gpus)
    return "cuda" if device == "auto" and has_gpus else device


def gpus_to_start_on(device: str, launcher: Launcher) -> int:
    """The number of GPUs of this machine that the launcher will use: 0 if it has already started
    this process, uses other machines, or uses no GPU.
    """
    is_elsewhere = launcher.command is None or launcher.nodes is not None or _is_started()
    return 0 if is_elsewhere or device != "cuda" else launcher.gpus or 0


def exec_under_launcher(launcher: Launcher) -> None:
    """Replace this process, a training, by the launcher's `command`, followed by this script and
    its arguments.

    The process id stays the same: signals reach the launcher, and its exit code is the stage's.
    Returns if there is no launcher, or if it has already started this process.

    Raises:
        ConfigError: there is no such program.
    """
    _exec("command", launcher.command, launcher.gpus, launcher.nodes)


def exec_single_under_launcher() -> None:
    """The same for a single-process stage, with `single` of params.yaml's launcher.

    Raises:
        ConfigError: there is no such program, or params.yaml is wrong.
    """
    launcher = config.load().launcher
    gpus = None if launcher.gpus is None else min(launcher.gpus, 1)
    _exec("single", launcher.single, gpus, 1)


def _exec(key: str, command: str | None, gpus: int | None, nodes: int | None) -> None:
    if command is None or _is_started():
        return
    script, *arguments = sys.argv
    # the stage's name in DVC, also if DVC did not start it
    stage = "@".join([Path(script).stem, *arguments[:1]])
    known = {
        "stage": stage, "scale": config.load().scale, "gpus": gpus, "nodes": nodes,
        "folder": Path.cwd(), "project": paths.project().resolve(), "python": sys.executable,
    }  # fmt: skip
    words = fill_in(command, known)
    os.environ["AIAYN_LAUNCHED"] = words[0]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvp(words[0], [*words, *sys.argv])
    except OSError as error:
        raise ConfigError(
            f"params.yaml: launcher.{key} starts {words[0]!r}: {error.strerror}. "
            "Install it, correct the command, or set launcher=here."
        ) from error


def _is_started() -> bool:
    return any(name in os.environ for name in STARTED)
