"""Encoding is independent of the number of processes; corrupt text is reported with its line."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from aiayn.data.bpe.encoding import encode_task
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.arrays import TokenArrays
from aiayn.data.tokens.special import END
from aiayn.errors import DataError

WriteText = Callable[[Path, str, list[str], list[str]], None]


@pytest.fixture
def tokens(text: Path, model: Path, tmp_path: Path) -> Path:
    encode_task(text, model, tmp_path / "tokens")
    return tmp_path / "tokens"


@pytest.mark.parametrize("split", ["train", "dev"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_every_sentence_and_its_end(
    text: Path, tokens: Path, bpe: Bpe, split: str, side: str
) -> None:
    lines = (text / f"{split}.{side}").read_text().removesuffix("\n").split("\n")
    ids = np.load(tokens / f"{split}.{side}.npy", mmap_mode="r")
    offsets = np.load(tokens / f"{split}.{side}.offsets.npy", mmap_mode="r")
    assert ids.dtype == np.uint16
    assert offsets.dtype == np.int64
    sentences = [ids[a:b].tolist() for a, b in pairwise(offsets)]
    assert sentences == [[*pieces, END] for pieces in bpe.encode(lines)]
    assert bpe.decode(sentences) == lines


def test_processes_and_chunks_do_not_matter(text: Path, model: Path, tokens: Path) -> None:
    for processes, chunk_lines in ((1, 3), (2, 7)):
        folder = tokens.parent / f"{processes}"
        encode_task(text, model, folder, processes, chunk_lines)
        names = sorted(path.name for path in tokens.iterdir())
        assert names == sorted(path.name for path in folder.iterdir())
        for name in names:
            assert (folder / name).read_bytes() == (tokens / name).read_bytes(), name


def test_manifest(text: Path, tokens: Path, bpe: Bpe) -> None:
    manifest = json.loads((tokens / "manifest.json").read_bytes())
    lines = (text / "train.target").read_text().removesuffix("\n").split("\n")
    lengths = [len(ids) for ids in bpe.encode(lines, end=True)]
    entry = manifest["splits"]["train"]["target"]
    assert manifest["vocabulary"] == bpe.size
    assert (entry["sentences"], entry["tokens"], entry["longest"]) == (
        len(lines), sum(lengths), max(lengths)
    )  # fmt: skip
    digests = {
        name: digest
        for sides in manifest["splits"].values()
        for side in sides.values()
        for name, digest in side["sha256"].items()
    }
    assert len(digests) == 8
    for name, digest in digests.items():
        assert hashlib.sha256((tokens / name).read_bytes()).hexdigest() == digest


def test_a_large_vocabulary_takes_four_bytes(
    text: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode_task(text, model, tmp_path / "small")
    monkeypatch.setattr(Bpe, "size", 65_537)
    encode_task(text, model, tmp_path / "large")
    small, large = (np.load(tmp_path / size / "train.source.npy") for size in ("small", "large"))
    assert (small.dtype, large.dtype) == (np.uint16, np.uint32)
    assert (small == large).all()


def test_only_a_newline_ends_a_line(write_text: WriteText, model: Path, tmp_path: Path) -> None:
    line = "a\u2028b\x85c\x0bd\x0ce\rf"
    for split in ("train", "dev"):
        write_text(tmp_path / "text", split, [line, ""], ["", line])
    encode_task(tmp_path / "text", model, tmp_path / "tokens")
    arrays = TokenArrays.open(tmp_path / "tokens", "train")
    (full, empty), (also_empty, also_full) = (
        [ids.tolist() for ids in arrays.pair(i)] for i in range(2)
    )
    assert Bpe(model).decode([full, also_full]) == [line, line]
    assert [empty, also_empty] == [[END], [END]]


def test_progress(text: Path, model: Path, tmp_path: Path) -> None:
    progress: list[int] = []
    encode_task(text, model, tmp_path / "tokens", 1, 15, progress.append)
    assert progress == [15, 5, 15, 5, 2, 2]


@pytest.fixture
def corrupt_text(text: Path, tmp_path: Path) -> Path:
    """A copy of the text, to be damaged by the test."""
    return Path(shutil.copytree(text, tmp_path / "corrupt_text"))


def _latin1(folder: Path) -> None:
    lines = (folder / "train.target").read_bytes().split(b"\n")
    lines[11] = "schläft".encode("latin-1")
    (folder / "train.target").write_bytes(b"\n".join(lines))


def _unequal(folder: Path) -> None:
    with (folder / "train.target").open("a") as file:
        file.write("one more\n")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "latin-1": (_latin1, r"train\.target: line 12 is not UTF-8.*dvc repro -f download"),
    "unequal": (_unequal, r"train\.\*: 20 source lines but 21 target lines.*dvc repro -f download"),
    "empty": (lambda folder: (folder / "dev.source").write_bytes(b""), r"dev\.source: empty"),
    "missing": (lambda folder: (folder / "dev.target").unlink(), r"dev\.target: does not exist"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_corrupt_text_is_named_and_nothing_is_replaced(
    corrupt_text: Path, model: Path, tokens: Path, damage: str
) -> None:
    before = {path.name: path.read_bytes() for path in tokens.iterdir()}
    change, message = DAMAGES[damage]
    change(corrupt_text)
    with pytest.raises(DataError, match=message) as error:
        encode_task(corrupt_text, model, tokens, 1, 5)
    assert "\n" not in str(error.value)
    assert {path.name: path.read_bytes() for path in tokens.iterdir()} == before
    assert not list(tokens.parent.glob(".*partial"))


def test_corrupt_text_is_named_by_worker_processes_too(
    corrupt_text: Path, model: Path, tmp_path: Path
) -> None:
    _latin1(corrupt_text)
    with pytest.raises(DataError, match=r"train\.target: line 12 is not UTF-8"):
        encode_task(corrupt_text, model, tmp_path / "tokens", 2, 5)
