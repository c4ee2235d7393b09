"""What may differ between two identical trainings: when, where, how fast, with which versions."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from aiayn.training.loop import Outcome
from aiayn.training.trainer import Trainer

VERSIONS = ("torch", "numpy", "safetensors", "sentencepiece")


def circumstances(trainer: Trainer, outcome: Outcome, fingerprint: str) -> dict[str, Any]:
    """Of a training that has just ended; seconds include those of earlier, interrupted starts."""
    device = trainer.device
    now = datetime.now(UTC)
    return {
        "fingerprint": fingerprint,
        "seconds": round(outcome.seconds, 2),
        "validation_seconds": round(outcome.validation_seconds, 2),
        "tokens_per_second": round(trainer.tokens / (outcome.seconds - outcome.validation_seconds)),
        "starts": outcome.starts,
        "started": (now - timedelta(seconds=outcome.seconds)).isoformat(timespec="seconds"),
        "ended": now.isoformat(timespec="seconds"),
        "processes": trainer.processes.count,
        "threads": torch.get_num_threads(),
        "precision": device.precision,
        "matmul": torch.get_float32_matmul_precision(),
        "padding_share": round(trainer.plan.padding_share, 4),
        "parameters": trainer.flat.values.numel(),
        **machine(device.device),
    }


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
