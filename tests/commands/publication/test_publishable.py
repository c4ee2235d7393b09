"""Uncommitted code and graphs that have yet to run are not published."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from aiayn.commands.publication import publish as publishing
from aiayn.commands.publication.publish import check_committed, check_up_to_date
from aiayn.errors import GraphError


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def test_code_that_differs_from_the_commit(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "m")
    check_committed(tmp_path)
    # files that the pipeline writes are exempt
    (tmp_path / "params.yaml").write_text("scale: toy\n")
    (tmp_path / "scales/copy").mkdir(parents=True)
    (tmp_path / "scales/copy/dvc.yaml").write_text("stages: {}\n")
    check_committed(tmp_path)
    (tmp_path / "code.py").write_text("2")
    with pytest.raises(GraphError, match=r"^code.py differ from the commit"):
        check_committed(tmp_path)


def test_a_folder_that_is_no_clone_is_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="Publish from a clone") as error:
        check_committed(tmp_path)
    assert "\n" not in str(error.value)


def test_outdated_stages_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = frozenset(f"train@{name}" for name in "abcd")
    monkeypatch.setattr(publishing, "changed_stages", lambda: changed)
    with pytest.raises(GraphError) as error:
        check_up_to_date()
    assert str(error.value) == (
        "not up to date: train@a, train@b, train@c and 1 more. Run make repro, then publish."
    )
    monkeypatch.setattr(publishing, "changed_stages", frozenset)
    check_up_to_date()
