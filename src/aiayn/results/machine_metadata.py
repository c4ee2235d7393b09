"""The current machine, as part of run metadata."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

from aiayn.results import paths
from aiayn.validation import StrictModel

VERSIONS = ("torch", "numpy", "safetensors", "sentencepiece")
DIRTY = "-dirty"  # after a commit from which tracked files differed
UNKNOWN_COMMIT = "unknown"


class MachineMetadata(StrictModel):
    """Host, device and versions, the result of `commit`, and a CPU's instruction set, with the
    environment variables that limit it. Old records lack the last."""

    host: str
    device: str
    python: str
    versions: Mapping[str, str]
    commit: str
    instruction_set: str | None = None


def this_machine(
    device: str, gpu: str | None = None, instruction_set: str | None = None
) -> MachineMetadata:
    """The machine that this process runs on.

    Args:
        device: cpu or cuda.
        gpu: the model of the GPU, if the device is one.
        instruction_set: of a CPU, as kernels use it.
    """
    from importlib.metadata import version

    return MachineMetadata(
        host=socket.gethostname(),
        device=f"{device}: {gpu or f'{os.cpu_count()} x {cpu_name()}'}",
        python=platform.python_version(),
        versions={package: version(package) for package in VERSIONS},
        commit=commit(),
        instruction_set=instruction_set,
    )


def commit(root: Path = Path()) -> str:
    """The project's commit, or UNKNOWN_COMMIT without git. It ends in -dirty if tracked files
    differ, other than those that the pipeline itself writes.

    Args:
        root: the folder of the project or of a scale.
    """
    root = paths.project(root)
    others = [".", *(f":(exclude){path}" for path in paths.WRITTEN)]
    try:
        name = _git(root, "rev-parse", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", *others)
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN_COMMIT
    return f"{name}{DIRTY}" if changed else name


def _git(root: Path, *arguments: str) -> str:
    # without locks, because several trainings may start at the same time
    command = ["git", "--no-optional-locks", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()


def cpu_name() -> str:
    """The model of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
