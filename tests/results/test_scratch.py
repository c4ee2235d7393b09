"""What a training keeps goes when dvc.lock records its outputs, and not before."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
import yaml

from aiayn.results import paths
from aiayn.results.scratch import delete, delete_recorded, finished

RUN, RECORD = "en-de.base-s2", b'{"fingerprint": "0123"}\n'


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """The scratch folder of a training that has ended."""
    folder = tmp_path / paths.scratch(RUN, "0123456789abcdef0123")
    folder.mkdir(parents=True)
    paths.resume(folder).write_text("state")
    (folder / "step-0000003.safetensors").write_text("weights")
    finished(folder).write_bytes(RECORD)
    return folder


def lock(root: Path, record: bytes | None, run: str = RUN) -> str:
    """Write a dvc.lock as DVC would, and return it."""
    digest = hashlib.md5(record or b"").hexdigest()
    out = {"path": f"circumstances/{run}.train.json", "hash": "md5", "md5": digest, "size": 1}
    stages = {f"train@{run}": {"cmd": "train", "outs": [out]}} if record else {}
    text = yaml.dump({"schema": "2.0", "stages": stages}, sort_keys=False, Dumper=yaml.CSafeDumper)
    (root / "dvc.lock").write_text(text)
    return text


def test_it_goes_when_dvc_lock_records_it(tmp_path: Path, scratch: Path) -> None:
    lock(tmp_path, RECORD)
    delete_recorded(tmp_path)
    assert not scratch.exists()


def test_it_stays_until_then(tmp_path: Path, scratch: Path) -> None:
    delete_recorded(tmp_path)  # there is no dvc.lock at all
    for record, run in ((None, RUN), (b"of an earlier training", RUN), (RECORD, "en-de.base")):
        lock(tmp_path, record, run)
        delete_recorded(tmp_path)
    assert finished(scratch).exists()


def test_it_stays_while_dvc_is_writing_dvc_lock(tmp_path: Path, scratch: Path) -> None:
    whole = lock(tmp_path, RECORD)
    digest = whole.index("md5: ") + len("md5: ") + 32
    for end in range(digest):
        (tmp_path / "dvc.lock").write_text(whole[:end])
        delete_recorded(tmp_path)
        assert finished(scratch).exists(), whole[:end]


def test_a_training_that_has_not_ended_stays(tmp_path: Path, scratch: Path) -> None:
    finished(scratch).unlink()
    lock(tmp_path, RECORD)
    delete_recorded(tmp_path)
    assert paths.resume(scratch).exists()


def test_the_state_goes_first_and_the_record_of_the_end_last(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[Path] = []
    unlink = Path.unlink

    def noted(path: Path, missing_ok: bool = False) -> None:
        gone.append(path)
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", noted)
    delete(scratch)
    assert (gone[0], gone[-1], len(gone)) == (paths.resume(scratch), finished(scratch), 3)
    assert not scratch.exists()


@pytest.mark.parametrize("where", ["read_bytes", "iterdir", "unlink", "rmdir"])
def test_another_training_deletes_it_at_the_same_moment(
    where: str, tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(tmp_path, RECORD)
    kept = tmp_path / paths.scratch("en-fr.base", "0123456789abcdef0123")
    shutil.copytree(scratch, kept)
    step = getattr(Path, where)

    def overtaken(path: Path, **named: object) -> object:
        shutil.rmtree(scratch, ignore_errors=True)
        return step(path, **named)

    monkeypatch.setattr(Path, where, overtaken)
    delete_recorded(tmp_path)
    assert not scratch.exists()
    assert finished(kept).exists()
