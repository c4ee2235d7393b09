"""References are those their manifest describes, and hypotheses have as many lines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from aiayn.errors import DataError, ScoreError
from aiayn.evaluation.references import read_hypotheses, read_references

Describe = Callable[..., None]

TARGET = "Ein Hund.\nZwei\u2028Katzen\x85 \n\nDrei Vögel.\n".encode()


@pytest.fixture
def folder(tmp_path: Path, describe: Describe) -> Path:
    folder = tmp_path / "en-de"
    folder.mkdir()
    (folder / "test.target").write_bytes(TARGET)
    describe(folder, test="demo-test")
    return folder


def test_only_line_feeds_separate_sentences(folder: Path) -> None:
    references = read_references(folder, "test")
    assert references.sentences == ("Ein Hund.", "Zwei\u2028Katzen\x85 ", "", "Drei Vögel.")
    assert references.path == folder / "test.target"
    assert references.form == "raw"
    assert (list(references.test_set.corpora), references.test_set.pairs) == (["demo-test"], 4)
    assert references.test_set.sha256["target"] == hashlib.sha256(TARGET).hexdigest()


def test_a_changed_reference_is_refused(folder: Path) -> None:
    (folder / "test.target").write_bytes(TARGET.replace(b"Hund", b"Hunt"))
    with pytest.raises(DataError, match=r"test\.target: is not the file that .*download@en-de"):
        read_references(folder, "test")


def test_a_manifest_that_does_not_describe_the_split_is_named(folder: Path) -> None:
    with pytest.raises(
        DataError, match=r"manifest\.json: splits.dev.sha256.target is missing\..*download@en-de"
    ):
        read_references(folder, "dev")


@pytest.mark.parametrize("name", ["manifest.json", "test.target"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(DataError, match=f"{name}: there is no such file"):
        read_references(folder, "test")


@pytest.mark.parametrize(
    ("target", "message"), [(b"", "the file is empty"), (b"a\n\xe4\n", "line 2 is not UTF-8")]
)
def test_unreadable_references_are_refused(
    folder: Path, describe: Describe, target: bytes, message: str
) -> None:
    (folder / "test.target").write_bytes(target)
    describe(folder, test="demo-test")
    with pytest.raises(DataError, match=rf"test\.target: {message}"):
        read_references(folder, "test")


def test_empty_hypotheses_are_sentences(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "test.hypotheses"
    path.write_bytes(b"Ein Hund.\n\n\n\n")
    assert read_hypotheses(path, read_references(folder, "test")) == ("Ein Hund.", "", "", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"", "the file is empty"),
        (b"a\nb\nc\n\xff\n", "line 4 is not UTF-8"),
        (b"a\nb\nc\n", r"has 3 lines and \S*test\.target has 4"),
        (b"a\nb\nc\nd\n\n", r"has 5 lines and \S*test\.target has 4"),
    ],
)
def test_hypotheses_that_do_not_match_the_references_are_refused(
    folder: Path, tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "en-de.base" / "test.hypotheses"
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(
        (DataError, ScoreError), match=rf"test\.hypotheses:? {message}.*decode@en-de\.base"
    ):
        read_hypotheses(path, read_references(folder, "test"))
