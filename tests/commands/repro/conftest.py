"""A project of shell commands under DVC, small enough to run in a moment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from dvc.repo import Repo

# a training fails unless there is a file of its name
STAGES = """
stages:
  prepare:
    cmd: echo text > prepared
    outs: [prepared]
  train:
    foreach: [a, b, c]
    do:
      cmd: "echo ${item} >> order; test -e ${item} || { echo 'ValueError: no ${item}'; false; } && cp prepared ${item}.txt"
      deps: [prepared]
      outs: ["${item}.txt"]
  report:
    cmd: cp dvc.lock seen; cat a.txt b.txt c.txt > report
    deps: [a.txt, b.txt, c.txt]
    outs:
      - report: {cache: false}
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project before anything ran; the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / ".dvc/tmp/site"))
    subprocess.run(["git", "init", "-q"], check=True)
    Repo.init().close()
    (tmp_path / "dvc.yaml").write_text(STAGES)
    for name in "abc":
        (tmp_path / name).touch()
    return tmp_path
