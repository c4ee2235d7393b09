"""A project of shell commands under DVC, small enough to run in a moment."""

from __future__ import annotations

from pathlib import Path

import pytest

# a training fails unless there is a file with its name
STAGES = """
vars:
  - root: .
stages:
  prepare:
    cmd: cp text prepared
    deps: [text]
    outs: [prepared]
  train:
    foreach: [a, b, c]
    do:
      cmd: "echo ${item} >> order; test -e ${item} || { echo 'ValueError: no ${item}'; false; } && cp prepared ${item}.txt"
      deps: [prepared]
      outs: ["${item}.txt"]
  score:
    foreach: [a, b, c]
    do:
      cmd: wc -c < ${item}.txt > ${item}.score
      deps: ["${item}.txt"]
      outs: ["${item}.score"]
  report:
    cmd: cp dvc.lock seen; cat a.score b.score c.score > report
    deps: [a.score, b.score, c.score]
    outs:
      - report: {cache: false}
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project before anything ran, as the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / ".dvc/tmp/site"))
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    (tmp_path / "dvc.yaml").write_text(STAGES)
    (tmp_path / "text").write_text("text\n")
    for name in "abc":
        (tmp_path / name).touch()
    return tmp_path
