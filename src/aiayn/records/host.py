"""The machine at hand: what stands in every record of circumstances."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VERSIONS = ("torch", "numpy", "safetensors", "sentencepiece")
UNKNOWN_COMMIT = "unknown"


@dataclass(frozen=True, kw_only=True)
class Host:
    """Host, device and versions; the commit, where git can tell, with -dirty where files differ."""

    host: str
    device: str
    python: str
    versions: Mapping[str, str]
    commit: str


def this_host(device: str, gpu: str | None = None) -> Host:
    """The machine that this process runs on.

    Args:
        device: what computes there: cpu or cuda.
        gpu: its model, if it is one.
    """
    from importlib.metadata import version

    return Host(
        host=socket.gethostname(),
        device=f"{device}: {gpu or f'{os.cpu_count()} x {cpu_name()}'}",
        python=platform.python_version(),
        versions={package: version(package) for package in VERSIONS},
        commit=commit(),
    )


def commit(root: Path = Path()) -> str:
    """The commit of the working tree at `root`, -dirty where tracked files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN_COMMIT
    return done.stdout.strip()


def cpu_name() -> str:
    """The model of this machine's processor."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            names = [
                line.partition(":")[2].strip() for line in file if line.startswith("model name")
            ]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
