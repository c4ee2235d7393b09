"""The machine at hand: what stands in every record of circumstances."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

VERSIONS = ("torch", "numpy", "safetensors", "sentencepiece")


def machine(device: torch.device) -> dict[str, Any]:
    """Host, device and versions; the commit, where git can tell."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else _cpu_name()
    return {
        "host": socket.gethostname(),
        "device": f"{device.type}: {name}",
        "python": platform.python_version(),
        "versions": {package: version(package) for package in VERSIONS},
        "commit": _commit(),
    }


def _cpu_name() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            names = [
                line.partition(":")[2].strip() for line in file if line.startswith("model name")
            ]
    except OSError:
        names = []
    return f"{os.cpu_count()} x {names[0] if names else platform.machine()}"


def _commit() -> str:
    """Commit of the working tree, marked where tracked files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()
