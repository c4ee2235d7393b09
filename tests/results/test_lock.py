"""dvc.lock: digests of a run, and parameters that have changed since."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from aiayn.errors import DataError
from aiayn.results.lock import Lock

STAGES = {
    "train@en-de.base": {
        "cmd": "train",
        "params": {"params.yaml": {"runs.en-de.base.seed": 1, "adam": {"epsilon": "1e-09"}}},
        "outs": [
            {"path": "models/en-de.base/checkpoints", "md5": "1" * 32},
            {"path": "run_metadata/en-de.base.train.json", "md5": "2" * 32},
        ],
    },
    "encode@en-de": {"cmd": "encode"},
    "train@en-de.big": {"cmd": "train"},
}
PARAMS = {"runs": {"en-de.base": {"seed": 1}}, "adam": {"epsilon": 1e-9}}


def lock_of(tmp_path: Path, stages: object = STAGES) -> Lock:
    path = tmp_path / "dvc.lock"
    path.write_text(yaml.dump({"schema": "2.0", "stages": stages}, Dumper=yaml.CSafeDumper))
    return Lock(path)


def test_the_stages_of_a_run_and_its_task(tmp_path: Path) -> None:
    assert set(lock_of(tmp_path).digests("en-de.base", "en-de")) == {"train", "encode"}


def test_an_entry_that_dvc_is_still_writing(tmp_path: Path) -> None:
    entry = {"cmd": "train", "params": {"params.yaml": None}, "outs": [{"md5": "1" * 32}, None]}
    stages = lock_of(tmp_path, {"train@a": entry, "train@b": None}).stages
    assert [*stages] == ["train@a"]
    assert (stages["train@a"].outs, stages["train@a"].params) == ({}, {})


def test_outs_by_path(tmp_path: Path) -> None:
    lock = lock_of(tmp_path)
    assert lock.out("models/en-de.base/checkpoints") == "1" * 32
    assert lock.out("models/en-de.big/checkpoints") is None


@pytest.mark.parametrize(("out", "same"), [(1, True), (0, False)])
def test_run_metadata_does_not_change_a_stages_digest(tmp_path: Path, out: int, same: bool) -> None:
    before = lock_of(tmp_path).digests("en-de.base")
    changed = yaml.load(yaml.dump(STAGES, Dumper=yaml.CSafeDumper), yaml.CSafeLoader)
    changed["train@en-de.base"]["outs"][out]["md5"] = "3" * 32
    assert (lock_of(tmp_path, changed).digests("en-de.base") == before) is same


def test_current_params_are_compared(tmp_path: Path) -> None:
    """Even if a run's name contains dots, and YAML 1.1 reads 1e-09 as text."""
    lock = lock_of(tmp_path)
    assert lock.outdated(PARAMS, "en-de.base", "en-de") == []
    changed = {**PARAMS, "runs": {"en-de.base": {"seed": 2}}}
    assert lock.outdated(changed, "en-de.base") == ["runs.en-de.base.seed"]
    assert lock.outdated({"runs": {}}, "en-de.base") == ["adam", "runs.en-de.base.seed"]
    assert lock.outdated({}, "en-de.big") == []


def test_a_missing_lock_is_empty(tmp_path: Path) -> None:
    assert Lock(tmp_path / "dvc.lock").digests("en-de") == {}


@pytest.mark.parametrize("content", ["stages: [", "just text"])
def test_a_damaged_lock_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "dvc.lock"
    path.write_text(content)
    with pytest.raises(DataError, match=r"dvc\.lock: not a dvc\.lock\. Restore it"):
        Lock(path)


def test_a_lock_cut_anywhere_is_a_lock_an_incomplete_one_or_an_error(tmp_path: Path) -> None:
    stage = {
        "cmd": "python a.py",
        "deps": [{"path": "src/a", "md5": f"{'a' * 32}.dir"}],
        "params": {"params.yaml": {"a.b": 1}},
        "outs": [{"path": "out/a", "md5": "b" * 32, "size": 1}],
    }
    text = yaml.dump({"schema": "2.0", "stages": {"one": stage}}, sort_keys=False)
    file, complete = tmp_path / "dvc.lock", 0
    for end in range(len(text) + 1):
        file.write_text(text[:end])
        try:
            stages = Lock(file).stages
        except DataError:
            continue
        for entry in stages.values():
            entry.digest()
            assert all(isinstance(path, str) for path in (*entry.deps, *entry.outs))
            complete += entry.is_complete and "outs" in entry.record
    assert complete == 2, "the whole text, and it without its last line end"
