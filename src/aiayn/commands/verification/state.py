"""Whether what lies here is what dvc.lock says, by DVC's own look at every file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dvc.exceptions import DvcException
from dvc.repo import Repo

from aiayn.errors import GraphError

SAID = {
    "modified": "is not as dvc.lock has it",
    "deleted": "is not there",
    "added": "is not in dvc.lock",
}


def damage(here: Path, items: Collection[str]) -> tuple[str, ...]:
    """What of some runs and tasks is not as dvc.lock says, a sentence each.

    An output of other bytes, or none: a bit flipped, a file edited or deleted, each file of a
    folder by its own name. A stage whose parameters, code or input have changed since: it is yet
    to run again.

    Args:
        items: names of runs and tasks.
    Raises:
        GraphError: the folder is no project of DVC, or its dvc.yaml cannot be read.
    """
    try:
        with Repo(str(here)) as repo:
            status: Mapping[str, Any] = repo.status()
            within = _files(repo) if status else {}
    except DvcException as error:
        raise GraphError(" ".join(str(error).split())) from error
    return tuple(
        said
        for stage, changes in status.items()
        if stage.partition("@")[2] in items
        for said in dict.fromkeys(_sentences(stage, changes, within))
    )


def _files(repo: Repo) -> Mapping[str, str]:
    """The files within folders that are others than dvc.lock has, each with what became of it."""
    found: Mapping[str, Sequence[str]] = repo.data_status(granular=True)["uncommitted"]
    return {path: how for how, paths in found.items() for path in paths if how in SAID}


def _sentences(stage: str, changes: Any, within: Mapping[str, str]) -> Iterator[str]:
    for change in changes:
        if not isinstance(change, Mapping):  # its command or its definition
            yield f"{stage}: {change} since it ran"
            continue
        for path, state in change.get("changed outs", {}).items():
            files = [
                name for name in sorted(within) if name.startswith(f"{path}/") and name[-1] != "/"
            ]
            yield from (f"{name} {SAID[within[name]]}" for name in files)
            if not files:
                yield f"{path} {SAID.get(state, SAID['modified'])}"
        if change.get("changed deps"):
            names = ", ".join(_leaves(change["changed deps"]))
            yield f"{stage}: {names} changed since it ran"


def _leaves(deps: Mapping[str, Any]) -> Iterator[str]:
    """Paths, and the names of parameters."""
    for path, state in deps.items():
        yield from _leaves(state) if isinstance(state, Mapping) else (path,)
