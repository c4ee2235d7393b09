"""Every file that is not as dvc.lock has it is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from aiayn.commands.verification.damage import damage

GRAPH = """\
stages:
  make:
    foreach: [one, two]
    do:
      cmd: mkdir -p ${item} && echo a > ${item}/a && echo b > ${item}/b && echo c > ${item}.txt
      outs:
        - ${item}
        - ${item}.txt
"""


@pytest.mark.slow  # dvc starts twice
def test_every_changed_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dvc.yaml").write_text(GRAPH)
    for command in (("git", "init", "-q"), ("dvc", "init", "-q"), ("dvc", "repro", "-q")):
        subprocess.run(command, check=True, capture_output=True)
    assert damage(Path(), {"one", "two"}) == ()
    Path("one/a").write_text("another sentence\n")
    Path("one/new").write_text("x")
    Path("one.txt").unlink()
    Path("two.txt").write_text("of another run")
    assert set(damage(Path(), {"one"})) == {
        "one/a is not as dvc.lock has it",
        "one/new is not in dvc.lock",
        "one.txt is missing",
    }
