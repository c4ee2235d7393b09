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
from aiayn.results import places

SHOWN = 3  # names in a message


def check(root: Path) -> None:
    """Raises GraphError where code or conf/ differs from the commit, or a stage would run.

    Args:
        root: the project's folder, which is also the working directory: DVC names stages by it.
    """
    paths = [".", *(f":(exclude){name}" for name in places.WRITTEN)]
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
    """Ends with 1, and a line that says why, where what lies here may not be published."""
    check(Path())


if __name__ == "__main__":
    main()
