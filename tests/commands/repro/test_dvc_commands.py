"""The graph as DVC's command line reports it, and a dvc.lock that a kill left incomplete."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from aiayn.commands.repro import dvc_commands
from aiayn.commands.repro.dvc_commands import changed_stages, drop_last_entry, read_graph
from aiayn.errors import GraphError

LOCK = """\
schema: '2.0'
stages:
  prepare:
    cmd: echo text > prepared
    outs:
    - path: prepared
      hash: md5
      md5: e1cbb0c3879af8347246f12c559a86b5
      size: 5
  train@a:
    cmd: echo a
    params:
      params.yaml:
        models:
          a: {N: 1}
    outs:
    - path: a.txt
      hash: md5
      md5: e1cbb0c3879af8347246f12c559a86b5
      size: 5
"""


@pytest.mark.slow
def test_the_graph(toy: Path) -> None:
    graph = read_graph()
    assert graph["report"] == {"score@a", "score@b", "score@c"}
    assert graph["train@a"] == {"prepare"}
    assert graph["prepare"] == frozenset()
    assert len(graph) == 8


@pytest.mark.slow
def test_a_graph_that_cannot_be_read_is_a_one_line_error(toy: Path) -> None:
    (toy / "dvc.yaml").write_text("stages: {prepare: {command: true}}")
    with pytest.raises(GraphError, match="dvc.yaml' validation failed") as caught:
        read_graph()
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_lock_that_a_kill_cut_off_loses_one_entry(toy: Path) -> None:
    dvc = [sys.executable, "-m", "dvc", "repro", "--quiet", "--single-item", "prepare", "train@a"]
    subprocess.run(dvc, check=True)
    lock = toy / "dvc.lock"
    whole = lock.read_text()
    assert not {"prepare", "train@a"} & changed_stages()
    lock.write_text(whole.rstrip()[:-4])
    changed = changed_stages()
    assert "prepare" not in changed
    assert "train@a" in changed


def test_whole_entries_remain_wherever_it_is_cut_off(tmp_path: Path) -> None:
    lock, whole = tmp_path / "dvc.lock", yaml.safe_load(LOCK)["stages"]
    for cut in range(1, len(LOCK)):
        lock.write_text(LOCK[:cut])
        assert drop_last_entry(lock)
        kept = yaml.safe_load(lock.read_text())["stages"] if lock.exists() else {}
        assert kept.items() <= whole.items()
    lock.unlink(missing_ok=True)
    assert not drop_last_entry(lock)


def test_a_lock_with_a_merge_conflict_is_left_to_the_user(tmp_path: Path) -> None:
    lock = tmp_path / "dvc.lock"
    text = "schema: '2.0'\nstages:\n  a:\n    cmd: a\n<<<<<<< HEAD\n  b:\n    cmd: b\n"
    lock.write_text(text)
    assert not drop_last_entry(lock)
    assert lock.read_text() == text


@pytest.mark.slow
def test_the_graph_is_read_while_another_process_writes_dvc_lock(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dvc dag` waits for nobody: at first it finds an empty dvc.lock."""
    (toy / "dvc.lock").touch()
    run, failed = dvc_commands._run, []

    def run_then_write(*arguments: str) -> str:
        try:
            return run(*arguments)
        except GraphError as error:
            failed.append(str(error))
            (toy / "dvc.lock").write_text("schema: '2.0'\nstages: {}\n")
            raise

    monkeypatch.setattr(dvc_commands, "_run", run_then_write)
    assert len(read_graph()) == 8
    assert len(failed) == 1
    assert "dvc.lock" in failed[0]


@pytest.mark.slow
def test_a_damaged_dvc_lock_is_not_read_for_ever(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / "dvc.lock").touch()
    monkeypatch.setattr(dvc_commands, "FURTHER_READS", 1)
    with pytest.raises(GraphError, match=r"dvc\.lock"):
        read_graph()
