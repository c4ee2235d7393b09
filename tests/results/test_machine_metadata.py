"""The commit recorded with a result."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from aiayn.results.machine_metadata import UNKNOWN_COMMIT, commit


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A working tree as it was committed."""
    for name in ("src/model.py", "dvc.lock", "params.yaml", "reports/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before\n")
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init"], ["add", "."], [*author, "commit", "-m", "all"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_files_that_the_graph_writes_do_not_make_it_dirty(clone: Path) -> None:
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True
    )
    name = done.stdout.strip()
    assert commit(clone) == name
    for path in ("dvc.lock", "params.yaml", "reports/index.html"):
        (clone / path).write_text("after\n")
    (clone / "history").mkdir()
    (clone / "history/en-de.base.csv").touch()
    assert commit(clone) == name
    (clone / "src/model.py").write_text("after\n")
    assert commit(clone) == f"{name}-dirty"


def test_without_git_the_commit_is_unknown(tmp_path: Path) -> None:
    assert commit(tmp_path) == UNKNOWN_COMMIT
