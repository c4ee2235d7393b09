"""Which outputs are not as dvc.lock has them, by DVC's own check of every file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from aiayn.errors import GraphError

MESSAGES = {
    "modified": "is not as dvc.lock has it",
    "deleted": "is missing",
    "added": "is not in dvc.lock",
}


def damage(here: Path, names: Collection[str]) -> tuple[str, ...]:
    """A sentence for each file of some runs and tasks that was changed, deleted or added since its
    stage ran, and for each of their stages whose code, parameters or input changed since.

    Args:
        here: a folder with dvc.yaml and dvc.lock.
        names: of runs and tasks.
    Raises:
        GraphError: DVC cannot read the folder.
    """
    status = _dvc(here, "status", "dvc.yaml")
    if not status:
        return ()
    uncommitted = _dvc(here, "data", "status", "--granular").get("uncommitted", {})
    files = {path: state for state in MESSAGES for path in uncommitted.get(state, ())}
    found = (
        sentence
        for stage, changes in status.items()
        if stage.partition("@")[2] in names
        for change in changes
        for sentence in _sentences(stage, change, files)
    )
    return tuple(dict.fromkeys(found))


def _sentences(stage: str, change: Any, files: Mapping[str, str]) -> Iterator[str]:
    """Of one entry of `dvc status`: "changed command", or {"changed outs": {path: state}}."""
    if isinstance(change, str):
        yield f"{stage}: {change} since it ran"
        return
    for path, state in change.get("changed outs", {}).items():
        inside = {name for name in files if name.startswith(f"{path}/") and name[-1] != "/"}
        for name in sorted(inside) or [path]:
            yield f"{name} {MESSAGES[files.get(name, state if state in MESSAGES else 'modified')]}"
    if changed := change.get("changed deps"):
        yield f"{stage}: {', '.join(_leaves(changed))} changed since it ran"


def _leaves(changed: Mapping[str, Any]) -> Iterator[str]:
    """Names of files and of parameters."""
    for name, state in changed.items():
        yield from _leaves(state) if isinstance(state, Mapping) else (name,)


def _dvc(folder: Path, *arguments: str) -> Any:
    command = [sys.executable, "-m", "dvc", *arguments, "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GraphError(" ".join(done.stderr.removeprefix("ERROR: ").split()))
    return json.loads(done.stdout)
