"""A training that has ended is not trained again before dvc.lock records it, and is after that."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

RUN = "en-de.base"
OUTPUTS = (f"models/{RUN}/checkpoints", f"history/{RUN}.csv", f"run_metadata/{RUN}.train.json")


def train(project: Any) -> dict[str, bytes]:
    """Run the stage as DVC does, which removes outputs first; all that it made."""
    for name in OUTPUTS:
        place = project.root / name
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    done = project.stage("train", RUN)
    assert done.returncode == 0, done.stderr
    files = [path for name in OUTPUTS for path in (project.root / name, *_in(project.root / name))]
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def _in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


@pytest.mark.parametrize("stale", [False, True])
def test_it_is_trained_again_only_when_dvc_lock_has_it(project: Any, stale: bool) -> None:
    project.set("models", "base", "steps", value=6)
    project.set("models", "base", "checkpoint_steps", value=3)
    lock = project.root / "dvc.lock"
    if stale:  # of an earlier training
        lock.write_text(_lock("0" * 32))
    else:
        lock.unlink(missing_ok=True)
    first = train(project)
    assert len(first) == 4
    # killed before dvc.lock was written: the same bytes, run metadata included
    assert train(project) == first
    record = (project.root / OUTPUTS[2]).read_bytes()
    history = (project.root / OUTPUTS[1]).read_bytes()
    lock.write_text(_lock(hashlib.md5(history).hexdigest()))
    again = train(project)
    metadata = str(project.root / OUTPUTS[2])
    assert again[metadata] != record
    assert json.loads(again[metadata])["starts"] == 1
    assert {**again, metadata: b""} == {**first, metadata: b""}


def _lock(digest: str) -> str:
    out = {"path": OUTPUTS[1], "hash": "md5", "md5": digest, "size": 1}
    return yaml.dump(
        {"schema": "2.0", "stages": {f"train@{RUN}": {"outs": [out]}}}, Dumper=yaml.CSafeDumper
    )
