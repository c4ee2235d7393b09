"""A store is created completely or not at all, and messages contain no credentials."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiayn.tracking import store
from aiayn.tracking.store import (
    StoreError,
    connect,
    connect_in_time,
    project_folder,
    tracking_uri,
    without_credentials,
)

Write = Callable[..., None]

TRACK = Path(__file__).parents[2] / "pipeline" / "track.py"


def test_the_default_store_is_one_complete_file(empty_database: Path) -> None:
    database = sqlite3.connect(empty_database)
    try:
        tables = {name for (name,) in database.execute("select name from sqlite_master")}
        locations = dict(database.execute("select name, artifact_location from experiments"))
    finally:
        database.close()
    assert {"runs", "metrics", "alembic_version"} <= tables
    folder = empty_database.with_name("mlartifacts")
    assert locations["another"] == (folder / "another").as_uri()
    assert list(folder.glob(".mlflow.db*")) == []


def test_a_store_that_cannot_be_built_leaves_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "mlflow.db").unlink()

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("mlflow.MlflowClient", fail)
    with pytest.raises(StoreError, match="disk full"):
        connect("aiayn/demo", root)
    assert not (root / "mlflow.db").exists()


def test_a_store_that_hangs_is_not_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Event()
    monkeypatch.setattr(store, "CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(store, "connect", lambda *_: release.wait(30))
    with pytest.raises(StoreError, match=r"no answer in 0 s"):
        connect_in_time("aiayn/demo", root)
    release.set()


def test_all_scales_and_experiments_of_a_project_share_its_store(tmp_path: Path) -> None:
    scale, experiment = tmp_path / "scales/copy", tmp_path / ".dvc/tmp/exps/temporary"
    scale.mkdir(parents=True)
    (experiment / ".dvc").mkdir(parents=True)
    for folder in (tmp_path, scale, experiment):
        assert project_folder(folder) == tmp_path
        assert tracking_uri(folder) == f"sqlite:///{tmp_path}/mlflow.db"


@given(
    user=st.text("abcXYZ019%:@._-", max_size=12), host=st.text("abc019.", min_size=1, max_size=8)
)
def test_no_user_or_password_is_shown(user: str, host: str) -> None:
    shown = without_credentials(f"failed at\nhttp://{user}@{host}/api and\tagain")
    assert shown == f"failed at http://{host}/api and again"


def run_track(root: Path, *prelude: str) -> subprocess.CompletedProcess[str]:
    """Run pipeline/track.py in `root`, after some lines of Python."""
    stage = f"sys.argv = ['track.py']; runpy.run_path({str(TRACK)!r}, run_name='__main__')"
    script = "; ".join(["import runpy, sys", *prelude, stage])
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=root, timeout=120
    )


def test_the_stage_mirrors(root: Path, write_results: Write) -> None:
    write_results("en-de.base")
    done = run_track(root)
    assert (done.returncode, done.stderr) == (0, "")
    summary = "1 runs, 1 of them new or changed"
    assert done.stdout == f"MLflow at sqlite:///{root}/mlflow.db: {summary}\n"


def test_the_stage_never_breaks_the_graph(
    root: Path, write_results: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results("en-de.base")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@127.0.0.1:9")
    done = run_track(root, "sys.modules['mlflow'] = None")
    assert done.returncode == 0
    assert (
        done.stderr == "MLflow at http://127.0.0.1:9: MLflow is not installed. Later: make sync.\n"
    )


def test_the_stage_names_a_damaged_file(root: Path, write_results: Write) -> None:
    write_results("en-de.base")
    (root / "scores/en-de.base.json").write_text("{")
    done = run_track(root)
    assert done.returncode == 1
    assert done.stderr.startswith("ScoreError: scores/en-de.base.json: not JSON")
    assert len(done.stderr.splitlines()) == 1
