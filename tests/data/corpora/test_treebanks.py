"""A task's files from a treebank in a licensed folder, in an archive, and from the grammar."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Catalogue, Cleaning, Corpus, Download, Grammar, Text, Treebank
from aiayn.data.corpora.archives import LINE_BYTES
from aiayn.data.corpora.assembly import assemble
from aiayn.data.trees.reading import read_tree
from aiayn.errors import DataError

RULES = Cleaning(
    invalid_utf8=True, empty=True, max_words=None, max_ratio=None, identical=False, duplicates=False
)
TEXT = Text(
    leaves="dummy", source="en", target="tree", train=("train",), dev="dev",
    tests={"test": "test"}, cleaning=RULES,
)  # fmt: skip
FOLDER = "AIAYN_TEST_TREEBANK"


@pytest.fixture
def licensed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like the Wall Street Journal's, with sections for train, dev and test."""
    folder = tmp_path / "wsj"
    for section, text in {
        "02": "( (S (NP-SBJ (NN b)) (VP (VBZ c))) )",
        "21": "( (S (NP-SBJ (-NONE- *))))\n( (NP (NN\n d)) )",
        "22": "(S (X e))",
        "23": "(S (X f))\n(())",
    }.items():
        (folder / section).mkdir(parents=True)
        (folder / section / f"wsj_{section}00.mrg").write_text(text)
    monkeypatch.setenv(FOLDER, str(folder))
    return folder


def banks(**files: list[str]) -> Catalogue:
    corpora = {
        n: Corpus(treebank=Treebank(folder=FOLDER, files=tuple(f))) for n, f in files.items()
    }
    return Catalogue(downloads={}, corpora=corpora)


LICENSED = banks(train=["0[2-9]/*.mrg", "2[01]/*.mrg"], dev=["22/*.mrg"], test=["23/*.mrg"])


def run(corpora: Catalogue, folder: Path, text: Text = TEXT, mirror: Path | None = None) -> Path:
    out = folder / "text"
    assemble("parsing", text, corpora, out, folder / "raw", str(mirror) if mirror else None)
    return out


def test_a_licensed_folder(licensed: Path, tmp_path: Path) -> None:
    out = run(LICENSED, tmp_path)
    assert (out / "train.source").read_text() == "b c\nd\n"
    assert (out / "train.target").read_text() == "(S (NP (XX) )NP (VP (XX) )VP )S\n(NP (XX) )NP\n"
    assert (out / "test.trees").read_text() == "(TOP (S (X f)))\n(TOP)\n"
    assert (out / "test.source").read_text() == "f\n\n"  # nothing of a test set is dropped
    manifest = json.loads((out / "manifest.json").read_text())["splits"]
    assert manifest["train"]["corpora"]["train"]["dropped"] == {"invalid_utf8": 0, "empty": 1}
    digest = hashlib.sha256((out / "test.trees").read_bytes()).hexdigest()
    assert manifest["test"]["sha256"]["trees"] == digest
    assert read_tree("(TOP)", "here").words == ()


def test_the_path_is_not_in_the_manifest(licensed: Path, tmp_path: Path) -> None:
    assert str(licensed) not in (run(LICENSED, tmp_path) / "manifest.json").read_text()


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda folder, env: env.delenv(FOLDER), f"corpus test: the environment variable {FOLDER} is not set"),
        (lambda folder, env: env.setenv(FOLDER, "/nowhere"), "corpus test: /nowhere, from"),
        (lambda folder, env: (folder / "23/wsj_2300.mrg").unlink(), "corpus test: no file 23/*.mrg in"),
        (lambda folder, env: (folder / "02/wsj_0200.mrg").write_text("(S (X a)"), "wsj_0200.mrg, line 1: 1 brackets of this tree are never closed"),
        (lambda folder, env: (folder / "02/wsj_0200.mrg").write_bytes(b"(S (X \xff))"), "wsj_0200.mrg, line 1: not UTF-8"),
        (lambda folder, env: (folder / "02/wsj_0200.mrg").write_bytes(bytes(LINE_BYTES + 1)), f"wsj_0200.mrg, line 1: longer than {LINE_BYTES} bytes. Replace the file."),
        (lambda folder, env: (folder / "22/wsj_2200.mrg").write_text(""), "corpus dev: no line in the treebank dev"),
    ],
)  # fmt: skip
def test_an_invalid_treebank_is_a_one_line_error(
    licensed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path, pytest.MonkeyPatch], None],
    expected: str,
) -> None:
    damage(licensed, monkeypatch)
    with pytest.raises(DataError) as error:
        run(LICENSED, tmp_path)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "text").exists()


def test_machine_parsed_text_is_added(licensed: Path, tmp_path: Path) -> None:
    (licensed / "parsed").mkdir()
    (licensed / "parsed/a.mrg").write_text("(ROOT (S (NP (NN g)) (VP (VBZ h))))\n(())\n" * 3)
    machine_parsed = Corpus(treebank=Treebank(folder=FOLDER, files=("parsed/*.mrg",)))
    corpora = LICENSED.replace(corpora={**LICENSED.corpora, "machine": machine_parsed})
    out = run(corpora, tmp_path, TEXT.replace(train=("train", "machine")))
    assert (out / "train.source").read_text() == "b c\nd\n" + 3 * "g h\n"
    entries = json.loads((out / "manifest.json").read_text())["splits"]["train"]["corpora"]
    assert entries["machine"]["dropped"]["empty"] == 3


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("a.mrg", content)
    return buffer.getvalue()


def flipped(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


TREES = b"(S (NN a) (VB b))\n" * 500


@pytest.mark.parametrize(
    "content",
    [
        zipped(TREES)[:-10],
        flipped(zipped(TREES), 60),
        flipped(zipped(TREES, zipfile.ZIP_STORED), 60),
        # the flag of an encrypted member, in its own header and in the index
        flipped(flipped(zipped(TREES), 6), zipped(TREES).index(b"PK\1\2") + 8),
        zipped(TREES).replace(b"\x14\0\0\0\x08\0", b"\x14\0\0\0\x63\0"),
        b"",
    ],
    ids=["cut", "byte flipped", "stored byte flipped", "encrypted", "unknown packing", "empty"],
)
def test_a_damaged_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mirror/host/trees.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    bank = Corpus(treebank=Treebank(download="trees", files=("*.mrg",)))
    corpora = Catalogue(
        downloads={
            "trees": Download(url="http://host/trees.zip", checksum=checksum, licence="none")
        },
        corpora=dict.fromkeys(("train", "dev", "test"), bank),
    )
    with pytest.raises(DataError, match=r"trees\.zip.*: truncated or damaged \(.*\)\. Replace it"):
        run(corpora, tmp_path, mirror=tmp_path / "mirror")


def test_the_grammars_trees_are_of_its_sentences(tmp_path: Path) -> None:
    corpora = {
        split: Corpus(grammar=Grammar(split=split, sentences=20, seed=1))
        for split in ("train", "dev", "test")
    }
    out = run(Catalogue(downloads={}, corpora=corpora), tmp_path)
    plain = TEXT.replace(leaves=None, target="de")
    assemble("en-de", plain, Catalogue(downloads={}, corpora=corpora), tmp_path / "de", tmp_path)
    spaced = (out / "train.source").read_text()
    assert (
        spaced.replace(" ,", ",").replace(" .", ".") == (tmp_path / "de/train.source").read_text()
    )


@pytest.mark.slow
def test_the_samples_split(
    catalogue: Callable[[str], Catalogue], multi30k_mirror: Path, tmp_path: Path
) -> None:
    """3,914 sentences, 94,084 words without traces: the sample's own counts."""
    text = TEXT.replace(
        train=("treebank-sample-train",),
        dev="treebank-sample-dev",
        tests={"test": "treebank-sample-test"},
    )
    out = run(catalogue("treebank_sample"), tmp_path, text, multi30k_mirror)
    splits: dict[str, Any] = json.loads((out / "manifest.json").read_text())["splits"]
    assert [splits[name]["pairs"] for name in ("train", "dev", "test")] == [3501, 168, 245]
    assert sum(split["words"]["source"] for split in splits.values()) == 94084
