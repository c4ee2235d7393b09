"""When, where and from which code the report was rendered: facts that no two renderings share."""

from __future__ import annotations

import hashlib
import platform
import socket
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path


def rendering(root: Path) -> Mapping[str, str]:
    """Facts about the report that is being written, by name."""
    return {
        "rendered": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(root),
        "dvc.lock before this stage, sha256": digest(root / "dvc.lock"),
        "machine": f"{socket.gethostname()}, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
    }


def commit(root: Path) -> str:
    """The commit of `root`, and whether tracked files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown: not a git repository"
    name, _, dirty = done.stdout.strip().partition("-")
    return f"{name} ({'with uncommitted changes' if dirty else 'clean'})"


def digest(path: Path) -> str:
    """sha256 of a file in hexadecimal, or a remark that it is not there."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return "not there"
