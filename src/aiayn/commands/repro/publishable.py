"""Checks before publishing: results must be from committed code and an up-to-date graph."""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from pathlib import Path

from aiayn.commands.repro.dvc_commands import changed_stages
from aiayn.errors import GraphError
from aiayn.results import paths

SHOWN = 3  # names in a message


def check_committed(top: Path) -> None:
    """Raises GraphError if the project's files, apart from results, differ from the commit."""
    files = [".", *(f":(exclude){name}" for name in paths.WRITTEN)]
    command = ["git", "status", "--porcelain", "--", *files]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GraphError(f"git: {' '.join(done.stderr.split())}. Publish from a clone.")
    if done.stdout:
        names = [line[3:] for line in done.stdout.splitlines()]
        raise GraphError(f"{_listed(names)} differ from the commit. Commit them, then publish.")


def check_up_to_date() -> None:
    """Raises GraphError if a stage of the scale in the working directory is outdated."""
    if changed := sorted(changed_stages()):
        raise GraphError(f"not up to date: {_listed(changed)}. Run make repro, then publish.")


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown
