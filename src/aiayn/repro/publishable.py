"""Whether what lies here may be published: of committed code, and all that the graph says of it.

`make publish` runs this file first.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from pathlib import Path

from dvc.exceptions import DvcException
from dvc.repo import Repo

from aiayn.errors import GraphError, one_line_errors
from aiayn.records import places

# what a graph writes is published itself, so it need not be committed
WRITTEN = ("params.yaml", str(places.LOCK), str(places.REPORTS), str(places.REPRODUCTIONS))
SHOWN = 3


def check(root: Path) -> None:
    """Raises GraphError where code or parameters differ from the commit, or a stage would run."""
    paths = [".", *(f":(exclude){name}" for name in WRITTEN)]
    command = ["git", "status", "--porcelain", "--", *paths]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GraphError(f"git: {' '.join(done.stderr.split())}. Publish from a clone.")
    if done.stdout:
        names = [line[3:] for line in done.stdout.splitlines()]
        raise GraphError(f"{_listed(names)} differ from the commit. Commit them, then publish.")
    try:
        with Repo(str(root)) as repo:
            stale = sorted(repo.status())
    except DvcException as error:
        raise GraphError(" ".join(str(error).split())) from error
    if stale:
        raise GraphError(f"{_listed(stale)} not up to date. Run make repro, then publish.")


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown


@one_line_errors
def main() -> None:
    check(Path())


if __name__ == "__main__":
    main()
