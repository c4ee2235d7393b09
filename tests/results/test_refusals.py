"""A renamed or missing key or column of a record's file is an error of one line, and so is a missing file
or one with other content."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.results.golden_records import ALL, CSVS, GOLDEN, KINDS, Kind

from aiayn.files import write_atomically


def keys(data: Any, key_path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every key in plain data, except in lists."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield (*key_path, key)
            yield from keys(value, (*key_path, key))


def broken(data: Any, key_path: tuple[str, ...], new: str | None) -> Any:
    """A copy in which a key is renamed, or removed."""
    changed = copy.deepcopy(data)
    inner = changed
    for key in key_path[:-1]:
        inner = inner[key]
    value = inner.pop(key_path[-1])
    if new is not None:
        inner[new] = value
    return changed


def read_error(kind: Kind, path: Path) -> str | None:
    """The message of the error that reading a file raises, if it is that of its kind."""
    try:
        kind.read(path)
    except kind.error as error:
        return str(error)
    return None


@pytest.mark.parametrize("new", ["renamed", None])
@pytest.mark.parametrize("name", KINDS)
def test_a_key_that_is_renamed_or_missing(name: str, new: str | None, tmp_path: Path) -> None:
    """One line names the file and the key; only the user's own names may differ."""
    kind = KINDS[name]
    data = json.loads((GOLDEN / kind.path).read_bytes())
    path = tmp_path / kind.path
    free = set()
    for key_path in keys(data):
        write_atomically(path, json.dumps(broken(data, key_path, new)))
        message = read_error(kind, path)
        if message is None:
            free.add(".".join(key_path))
            continue
        assert message.startswith(f"{path}: "), message
        assert ".".join(key_path[:-1]) in message, message
        assert key_path[-1] in message or (new is not None and new in message), message
        assert "\n" not in message
        assert "dvc repro -f" in message or "train again" in message, message
    may_be_left_out = {
        key_path
        for key_path in free - kind.free
        if new is None and key_path.rpartition(".")[2] in OPTIONAL
    }
    assert free - may_be_left_out == kind.free


OPTIONAL = {
    "averaged_steps", "kept", "dropped", "overlap", "low", "high", "counts", "lengths", "k", "r",
    "peak_rss_bytes", "instruction_set",
}  # fmt: skip


@pytest.mark.parametrize("name", CSVS)
def test_a_column_that_is_renamed_or_missing(name: str, tmp_path: Path) -> None:
    kind = CSVS[name]
    head, _, lines = (GOLDEN / kind.path).read_text(encoding="utf-8").partition("\n")
    path = tmp_path / kind.path
    columns = head.split(",")
    for n, column in enumerate(columns):
        changed = columns.copy()
        changed[n] = "renamed"
        write_atomically(path, ",".join(changed) + "\n" + lines)
        with pytest.raises(kind.error, match=r"'renamed' is not a column") as caught:
            kind.read(path)
        assert str(caught.value).startswith(f"{path}: ")
        fewer = [line.split(",") for line in (head, *lines.splitlines())]
        write_atomically(path, "".join(",".join(c[:n] + c[n + 1 :]) + "\n" for c in fewer))
        with pytest.raises(kind.error, match=rf"the column {column} is missing") as caught:
            kind.read(path)
        assert str(caught.value).startswith(f"{path}: ")


# a file of weights is opened in model/checkpoints.py
@pytest.mark.parametrize("name", sorted(ALL.keys() - {"checkpoints"}))
def test_a_file_that_is_missing(name: str, tmp_path: Path) -> None:
    kind = ALL[name]
    with pytest.raises(kind.error, match=r"there is no such file.*Make it again: dvc repro -f"):
        kind.read(tmp_path / kind.path)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("content", ["", "[]", "{", '"text"', "\xff", "[NaN]"])
def test_a_file_that_is_something_else(name: str, content: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    write_atomically(tmp_path / kind.path, content)
    with pytest.raises(kind.error, match=r"not JSON|must be a mapping") as caught:
        kind.read(tmp_path / kind.path)
    assert str(caught.value).startswith(str(tmp_path / kind.path))
