"""Nothing is published of code that no commit has, or of a graph that is yet to run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from aiayn.commands.repro.publishable import check
from aiayn.errors import GraphError

GRAPH = """\
stages:
  copy:
    cmd: cp code.py out.txt
    deps: [code.py]
    outs: [out.txt]
"""


def run(root: Path, *command: str) -> None:
    subprocess.run(command, cwd=root, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A graph of one stage that has run, committed."""
    run(tmp_path, "git", "init", "-q")
    (tmp_path / "dvc.yaml").write_text(GRAPH)
    (tmp_path / "code.py").write_text("1")
    run(tmp_path, "dvc", "init", "-q")
    run(tmp_path, "dvc", "repro", "-q")
    run(tmp_path, "git", "add", "-A")
    run(tmp_path, "git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m")
    return tmp_path


@pytest.mark.slow  # dvc starts twice
def test_what_may_be_published(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)  # DVC names stages by the way to them
    check(Path())
    (project / "params.yaml").write_text("scale: toy\n")  # what a graph writes is published itself
    check(Path())
    (project / "out.txt").write_text("flipped")
    with pytest.raises(GraphError, match=r"^copy not up to date. Run make repro, then publish.$"):
        check(Path())
    (project / "code.py").write_text("2")
    with pytest.raises(GraphError, match=r"^code.py differ from the commit"):
        check(Path())


def test_a_folder_that_is_no_clone_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="Publish from a clone") as error:
        check(tmp_path)
    assert "\n" not in str(error.value)
