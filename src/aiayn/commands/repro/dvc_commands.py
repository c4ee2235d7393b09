"""DVC's command line: reading the graph, finding changed stages, and running stages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from aiayn.errors import GraphError
from aiayn.files import write_atomically
from aiayn.results import paths

# --wait-for-lock: another DVC process may be reading or writing dvc.lock
DVC = (sys.executable, "-m", "dvc", "--wait-for-lock")
DVC_YAML = "dvc.yaml"  # as a target: the stages of this folder, not those of other scales
# DVC's message about a file that another DVC process is using
BUSY = re.compile(r"is busy, it is being blocked by:")
BLOCKER = re.compile(r"  \(PID (\d+)\): ")
FURTHER_READS = 5  # of dvc.lock, each by a new process of DVC
CONFLICT = "\n<<<<<<< "  # by which git marks what it could not merge
_NODE_OR_EDGE = re.compile(r'"(.+?)"(?: -> "(.+?)")?;')
_ENTRY = re.compile(r"^  \S.*:\n", re.MULTILINE)  # the first line of a stage in dvc.lock


class BusyError(GraphError):
    """Another DVC process, `pid`, is using a file of the graph."""

    def __init__(self, message: str, pid: int) -> None:
        super().__init__(message)
        self.pid = pid


def environment() -> dict[str, str]:
    """The environment of DVC and the stages' commands: this interpreter is their `python`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    # DVC runs a command with $SHELL; sh replaces itself by the command, other shells may not
    return {**os.environ, "PATH": path, "SHELL": "/bin/sh"}


def read_graph() -> dict[str, frozenset[str]]:
    """For each stage of dvc.yaml, the stages it depends on.

    Raises:
        GraphError: dvc.yaml, params.yaml or dvc.lock cannot be read.
    """
    upstream: dict[str, set[str]] = {}
    for source, target in _NODE_OR_EDGE.findall(_dag()):
        upstream.setdefault(source, set())
        if target:
            upstream.setdefault(target, set()).add(source)
    return {name: frozenset(sources) for name, sources in upstream.items()}


def _dag() -> str:
    """The graph in the language of Graphviz. `dvc dag` ignores DVC's locks, so another process may
    be writing dvc.lock; then it is read again."""
    for _ in range(FURTHER_READS):
        try:
            return _run("dag", "--dot", DVC_YAML)
        except GraphError as error:
            if str(paths.LOCK) not in str(error):
                raise
    return _run("dag", "--dot", DVC_YAML)


def changed_stages() -> frozenset[str]:
    """The stages of dvc.yaml whose code, data, parameters or outputs differ from dvc.lock.

    If a killed DVC left dvc.lock incomplete, its last entry is removed; DVC's run cache has it.

    Raises:
        BusyError: another process is writing what a stage reads.
        GraphError: a file cannot be read.
    """
    try:
        status = _run("status", "--json", DVC_YAML)
    except GraphError as error:
        if str(paths.LOCK) not in str(error) or not drop_last_entry(paths.LOCK):
            raise
        status = _run("status", "--json", DVC_YAML)
    return frozenset(json.loads(status))


def drop_last_entry(lock: Path) -> bool:
    """Remove the last stage from dvc.lock, unless git has left a conflict in it. Returns whether
    there was one."""
    text = lock.read_text(encoding="utf-8", errors="replace") if lock.exists() else ""
    if CONFLICT in text:
        return False
    starts = [found.start() for found in _ENTRY.finditer(text)]
    if starts[1:]:
        write_atomically(lock, text[: starts[-1]])
    elif text:
        lock.unlink()
    return bool(text)


def start_stages(stages: Sequence[str], output: int) -> subprocess.Popen[bytes]:
    """Start a DVC process that runs those stages that have changed, in order, until one fails.

    It runs in a new session, so that Ctrl-C in the terminal does not reach it.

    Args:
        stages: stages whose dependencies exist.
        output: the file descriptor for the output of DVC and the stages.
    """
    return subprocess.Popen(
        [*DVC, "repro", "--single-item", *stages],
        env=environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        start_new_session=True,
    )  # fmt: skip


def commit(stages: Sequence[str], folder: Path) -> None:
    """Put the outputs of stages in a scale's folder into DVC's cache.

    Raises:
        GraphError: DVC failed.
    """
    _run("commit", "--force", *stages, folder=folder)


def _run(*arguments: str, folder: Path | None = None) -> str:
    """The output of a DVC command.

    Raises:
        GraphError: it failed.
    """
    done = subprocess.run(
        [*DVC, *arguments], env=environment(), cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        reason = done.stderr.partition("\n\nHaving any troubles?")[0]
        message = " ".join(reason.replace("ERROR: ", "").split()) or "DVC failed."
        if BUSY.search(reason) and (blocker := BLOCKER.search(reason)):
            raise BusyError(message, int(blocker[1]))
        raise GraphError(message)
    return done.stdout
