"""Arrays are read as written; a damaged file is named."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aiayn.data.tokens.arrays import TokenArrays
from aiayn.errors import DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs: ([7, 8, 3], [9, 3]) and ([3], [5, 6, 5, 3])."""
    arrays = {
        "train.source": np.array([7, 8, 3, 3], np.uint16),
        "train.source.offsets": np.array([0, 3, 4]),
        "train.target": np.array([9, 3, 5, 6, 5, 3], np.uint16),
        "train.target.offsets": np.array([0, 2, 6]),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "manifest.json").write_text(json.dumps({"vocabulary": 10, "splits": {}}))
    return tmp_path


def test_pairs_and_lengths(folder: Path) -> None:
    arrays = TokenArrays.open(folder, "train")
    assert (len(arrays), arrays.vocabulary) == (2, 10)
    assert [ids.tolist() for ids in arrays.pair(0)] == [[7, 8, 3], [9, 3]]
    assert [ids.tolist() for ids in arrays.pair(1)] == [[3], [5, 6, 5, 3]]
    assert [lengths.tolist() for lengths in arrays.lengths] == [[3, 1], [2, 4]]


def test_files_are_mapped_not_read(folder: Path) -> None:
    array: object = TokenArrays.open(folder, "train").source.ids
    while isinstance(array, np.ndarray):
        array = array.base
    assert isinstance(array, mmap.mmap)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def _pickle(path: Path) -> None:
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)


DAMAGE: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing": ("train.source.npy", Path.unlink, "does not exist"),
    "truncated": ("train.source.npy", _truncate, "not a whole .npy file"),
    "empty": ("train.source.npy", lambda path: path.write_bytes(b""), "not a whole .npy file"),
    "text": ("train.target.npy", lambda path: path.write_bytes(b"no array"), "not a whole"),
    "pickle": ("train.source.npy", _pickle, "not a whole .npy file"),
    "floats": ("train.source.npy", lambda path: np.save(path, np.ones(4)), "float64"),
    "flat": ("train.source.npy", lambda path: np.save(path, np.ones((2, 2), np.uint16)), "2 dim"),
    "other ids": ("train.source.npy", lambda p: np.save(p, np.ones(5, np.uint16)), "5 ids"),
    "no offsets": ("train.source.offsets.npy", lambda p: np.save(p, np.zeros(0, int)), "4 ids"),
    "overlap": ("train.source.offsets.npy", lambda p: np.save(p, np.array([0, 5, 4])), "4 ids"),
    "begin": ("train.source.offsets.npy", lambda p: np.save(p, np.array([1, 2, 4])), "4 ids"),
    "another pair": (
        "train.source.offsets.npy", lambda p: np.save(p, np.array([0, 1, 3, 4])),
        "3 source and 2 target sentences",
    ),
    "no manifest": ("manifest.json", Path.unlink, "no such file"),
    "truncated manifest": ("manifest.json", lambda p: p.write_text("{"), "not JSON"),
    "a list": ("manifest.json", lambda path: path.write_text("[]"), "must be a mapping"),
    "a word": ("manifest.json", lambda p: p.write_text('{"vocabulary": "x", "splits": {}}'), "must be a valid integer, not 'x'"),
}  # fmt: skip


@pytest.mark.parametrize("case", DAMAGE)
def test_damage(folder: Path, case: str) -> None:
    name, damage, message = DAMAGE[case]
    damage(folder / name)
    with pytest.raises(DataError, match=message) as error:
        TokenArrays.open(folder, "train")
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)
    assert "dvc repro" in str(error.value)
