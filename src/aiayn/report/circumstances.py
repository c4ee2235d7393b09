"""What may differ between two identical runs: when, where, how fast, and from which code."""

from __future__ import annotations

import hashlib
import platform
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aiayn.report.costs import estimates
from aiayn.report.evidence import Evidence
from aiayn.report.results import read_circumstances
from aiayn.report.section import Figure
from aiayn.report.table_1_figures import read_wall_time
from aiayn.report.tables import Table


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """All that reports/circumstances.html shows, and nothing of it the rest of the report.

    `rendering` are facts about the report itself; `runs` go by run, stage and dotted name.
    `wall_time` is there once the stage profile_layers has run.
    """

    scale: str
    rendering: Mapping[str, str]
    runs: Mapping[str, Mapping[str, Mapping[str, str]]]
    estimates: Table
    wall_time: Figure | None


def circumstances(evidence: Evidence) -> Circumstances:
    """Those of every run in params.yaml, and of the report that is being written.

    Raises:
        ScoreError, ProfileError: a file is there but is not what it should be.
    """
    folder = evidence.root / "circumstances"
    runs = {run: read_circumstances(folder, run) for run in evidence.config.runs}
    return Circumstances(
        scale=evidence.config.scale,
        rendering=rendering(evidence.root),
        runs=runs,
        estimates=estimates(evidence.paper, runs),
        wall_time=read_wall_time(folder / "profile_layers.json"),
    )


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
