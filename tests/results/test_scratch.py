"""A training's scratch folder is deleted when dvc.lock records its outputs, and not before."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
import yaml

from aiayn.results import metadata, paths
from aiayn.results.metadata import TrainingMetadata
from aiayn.results.scratch import delete, delete_recorded, finished

RUN, OTHER, HISTORY = "en-de.base-s2", "en-de.base", b"step,loss\n"


TRAINED = TrainingMetadata(
    host="h", device="cpu: 2 x A", python="3.11", versions={}, commit="unknown", fingerprint="0123",
    seconds=1.0, validation_seconds=0.1, tokens_per_second=1, starts=1, started="2026-01-01T00:00:00+00:00",
    ended="2026-01-01T00:00:01+00:00", processes=1, threads=1, precision="float32", matmul="highest",
    padding_share=0.0, parameters=1, history_md5=hashlib.md5(HISTORY).hexdigest(),
)  # fmt: skip


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """The scratch folder of a training that has ended."""
    folder = tmp_path / paths.scratch(RUN, "0123456789abcdef0123")
    folder.mkdir(parents=True)
    paths.resume(folder).write_text("state")
    (folder / "step-0000003.safetensors").write_text("weights")
    metadata.write(finished(folder), TRAINED)
    history = tmp_path / paths.history(RUN)
    history.parent.mkdir()
    history.write_bytes(HISTORY)
    return folder


def lock(root: Path, history: bytes | None, run: str = RUN) -> str:
    """Write a dvc.lock as DVC would, and return it."""
    digest = hashlib.md5(history or b"").hexdigest()
    out = {"path": f"history/{run}.csv", "hash": "md5", "md5": digest, "size": 1}
    stages = {f"train@{run}": {"cmd": "train", "outs": [out]}} if history else {}
    text = yaml.dump({"schema": "2.0", "stages": stages}, sort_keys=False, Dumper=yaml.CSafeDumper)
    (root / "dvc.lock").write_text(text)
    return text


def test_it_is_deleted_when_dvc_lock_records_it(tmp_path: Path, scratch: Path) -> None:
    lock(tmp_path, HISTORY)
    delete_recorded(tmp_path, OTHER)
    assert not scratch.exists()


def test_it_is_kept_until_then(tmp_path: Path, scratch: Path) -> None:
    delete_recorded(tmp_path, OTHER)  # there is no dvc.lock at all
    for history, run in ((None, RUN), (b"of an earlier training", RUN), (HISTORY, "en-de.base")):
        lock(tmp_path, history, run)
        delete_recorded(tmp_path, OTHER)
    assert finished(scratch).exists()


def test_it_is_kept_while_a_training_with_the_same_outputs_is_ending(
    tmp_path: Path, scratch: Path
) -> None:
    lock(tmp_path, HISTORY)
    (tmp_path / paths.history(RUN)).unlink()
    delete_recorded(tmp_path, OTHER)
    assert finished(scratch).exists()
    delete_recorded(tmp_path, RUN)  # forced to run again
    assert not scratch.exists()


def test_it_is_kept_if_dvc_lock_is_older(tmp_path: Path, scratch: Path) -> None:
    """A lock from elsewhere, where the same training had the same outputs."""
    lock(tmp_path, HISTORY)
    os.utime(tmp_path / "dvc.lock", ns=(1, 1))
    for run in (OTHER, RUN):
        delete_recorded(tmp_path, run)
        assert finished(scratch).exists()


def test_it_is_kept_while_dvc_is_writing_dvc_lock(tmp_path: Path, scratch: Path) -> None:
    complete = lock(tmp_path, HISTORY)
    digest = complete.index("md5: ") + len("md5: ") + 32
    for end in range(digest):
        (tmp_path / "dvc.lock").write_text(complete[:end])
        delete_recorded(tmp_path, OTHER)
        assert finished(scratch).exists(), complete[:end]


def test_an_unfinished_training_is_kept(tmp_path: Path, scratch: Path) -> None:
    finished(scratch).unlink()
    lock(tmp_path, HISTORY)
    delete_recorded(tmp_path, OTHER)
    assert paths.resume(scratch).exists()


def test_the_state_is_deleted_first_and_the_record_of_the_end_last(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleted: list[Path] = []
    unlink = Path.unlink

    def recording_unlink(path: Path, missing_ok: bool = False) -> None:
        deleted.append(path)
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", recording_unlink)
    delete(scratch)
    assert (deleted[0], deleted[-1], len(deleted)) == (paths.resume(scratch), finished(scratch), 3)
    assert not scratch.exists()


@pytest.mark.parametrize("method", ["read_bytes", "iterdir", "unlink", "rmdir"])
def test_another_training_deletes_it_at_the_same_moment(
    method: str, tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(tmp_path, HISTORY)
    other_scratch = tmp_path / paths.scratch("en-fr.base", "0123456789abcdef0123")
    shutil.copytree(scratch, other_scratch)
    original = getattr(Path, method)

    def after_deletion(path: Path, **options: object) -> object:
        shutil.rmtree(scratch, ignore_errors=True)
        return original(path, **options)

    monkeypatch.setattr(Path, method, after_deletion)
    delete_recorded(tmp_path, OTHER)
    assert not scratch.exists()
    assert finished(other_scratch).exists()
