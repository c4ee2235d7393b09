"""Labelled sentences: reading, folds, and unknown labels."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Corpus, Download, Folds, Labelled, Side, Text
from aiayn.data.corpora.archives import lines
from aiayn.data.corpora.assembly import assemble
from aiayn.data.corpora.labelled import fold, labelled_sentences
from aiayn.errors import DataError

NEGATIVE = "".join(f"dull, film {n}\n" for n in range(60)).encode() + "clichéd \n".encode()
POSITIVE = "".join(f"fine film {n} !\n" for n in range(60)).encode()


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"d/{name}", content)
    return buffer.getvalue()


def add(workspace: Any, content: bytes, folds: int = 3) -> None:
    """A zip of two texts, and a corpus fold-N for each fold of it."""
    (workspace.mirror / "host").mkdir(parents=True, exist_ok=True)
    (workspace.mirror / "host/reviews.zip").write_bytes(content)
    download = Download(
        url="http://host/reviews.zip",
        checksum=f"sha256:{hashlib.sha256(content).hexdigest()}",
        licence="none",
    )
    texts = {
        label: Side(download="reviews", member=f"d/{label}") for label in ("negative", "positive")
    }
    corpora = {
        f"fold-{n}": Corpus(labelled=Labelled(texts=texts, folds=Folds(fold=n, of=folds, seed=1)))
        for n in range(folds)
    }
    workspace.catalogue = workspace.catalogue.replace(
        downloads={**workspace.catalogue.downloads, "reviews": download},
        corpora={**workspace.catalogue.corpora, **corpora},
    )


def task(
    workspace: Any, *train: str, dev: str = "fold-1", test: str = "fold-2", **changes: Any
) -> Text:
    text = workspace.task(*train, empty=True).replace(
        source="en", target="label", dev=dev,
        tests={"test": test}, labels=("negative", "positive"),
    )  # fmt: skip
    return text.replace(**changes)


def assemble_task(workspace: Any, text: Text) -> Any:
    assemble(
        "polarity", text, workspace.catalogue, workspace.text, workspace.raw, str(workspace.mirror)
    )
    return json.loads((workspace.text / "manifest.json").read_bytes())


def pairs(folder: Path, split: str) -> list[tuple[str, str]]:
    sides = [(folder / f"{split}.{side}").read_text() for side in ("source", "target")]
    return list(zip(*(side.removesuffix("\n").split("\n") for side in sides), strict=True))


def test_every_sentence_is_in_one_fold_with_its_label(workspace: Any) -> None:
    add(workspace, zipped(negative=NEGATIVE, positive=POSITIVE))
    manifest = assemble_task(workspace, task(workspace, "fold-0"))
    all_pairs = [
        pair for split in ("train", "dev", "test") for pair in pairs(workspace.text, split)
    ]
    assert Counter(label for _, label in all_pairs) == {"negative": 61, "positive": 60}
    assert len({sentence for sentence, _ in all_pairs}) == 121
    assert ("clichéd", "negative") in all_pairs
    assert all(label == ("negative" if "dull" in s else "positive") for s, label in all_pairs[:-1]
               if "film" in s)  # fmt: skip
    assert 20 < manifest["splits"]["train"]["pairs"] < 60
    assert manifest["downloads"].keys() == {"reviews"}


def test_duplicate_sentences_are_in_the_same_fold() -> None:
    folds = Folds(fold=0, of=10, seed=7)
    assert fold(b"a fine film", folds) == fold(b" a fine film \r", folds)
    number = int.from_bytes(hashlib.sha256(b"7\na fine film").digest()[:8], "big") % 10
    assert fold(b"a fine film", folds) == number


def test_another_seed_gives_other_folds() -> None:
    sentences = [b"sentence %d" % n for n in range(100)]
    by_seed = [[fold(s, Folds(fold=0, of=10, seed=n)) for s in sentences] for n in (1, 2)]
    assert by_seed[0] != by_seed[1]
    assert set(by_seed[0]) == set(range(10))


def test_an_undeclared_label(workspace: Any) -> None:
    add(workspace, zipped(negative=NEGATIVE, positive=POSITIVE))
    text = task(workspace, "fold-0", labels=("positive", "neutral"))
    with pytest.raises(
        DataError, match=r"line 1: the label 'negative' is not one of positive, neut"
    ):
        assemble_task(workspace, text)
    assert not workspace.text.exists()


def test_labels_in_a_separate_file(workspace: Any) -> None:
    workspace.add("plain", b"a b\nc d\n", b"positive\nnegatve\n")
    for name in ("dev", "test"):
        workspace.add(name, b"e f\n", b"positive\n")
    text = task(workspace, "plain", dev="dev", test="test", target="de")
    with pytest.raises(DataError, match=r"plain\.de, line 2: the label 'negatve' is not one of"):
        assemble_task(workspace, text)


def test_one_class_only(workspace: Any) -> None:
    add(workspace, zipped(negative=NEGATIVE, positive=b"\n"))
    with pytest.raises(
        DataError, match="no training sentence has the label 'positive'; found: neg"
    ):
        assemble_task(workspace, task(workspace, "fold-0"))


def test_text_that_is_not_utf8(workspace: Any) -> None:
    add(workspace, zipped(negative=b"clich\xe9d\n", positive=POSITIVE), folds=2)
    with pytest.raises(DataError, match=r"not UTF-8"):
        assemble_task(workspace, task(workspace, "fold-0", "fold-1", dev="fold-0", test="fold-1"))


def test_a_column_of_labelled_texts(tmp_path: Path) -> None:
    path = tmp_path / "reviews.tsv"
    path.write_bytes(b"1\tgood film\n2\tfine film\n")
    labelled = Labelled(texts={"positive": Side(download="reviews", column=2)})
    assert list(labelled_sentences(labelled, {"reviews": path})) == [
        (b"good film", b"positive"), (b"fine film", b"positive"),
    ]  # fmt: skip


def test_a_damaged_zip_and_a_missing_member(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    whole = zipped(a=POSITIVE)
    path.write_bytes(whole)
    assert b"".join(line + b"\n" for line in lines(path, "d/a")) == POSITIVE
    with pytest.raises(DataError, match=r"no such member. The closest name is d/a\."):
        list(lines(path, "d/b"))
    with pytest.raises(DataError, match="set the member to read"):
        list(lines(path))
    path.write_bytes(whole[:50])
    with pytest.raises(DataError, match="truncated or damaged"):
        list(lines(path, "d/a"))
    position = whole.index(b"d/a") + 20  # within the packed bytes
    path.write_bytes(whole[:position] + bytes([whole[position] ^ 255]) + whole[position + 1 :])
    with pytest.raises(DataError, match="truncated or damaged"):
        list(lines(path, "d/a"))


@pytest.mark.parametrize(
    "damage",
    [
        # the flag of an encrypted member, in its own header and in the index
        lambda zip_: flagged(flagged(zip_, 6), zip_.index(b"PK\1\2") + 8),
        lambda zip_: zip_.replace(b"\x14\0\0\0\x08\0", b"\x14\0\0\0\x63\0"),
    ],
    ids=["encrypted", "unknown packing"],
)
def test_a_zip_that_cannot_be_unpacked(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(damage(zipped(a=POSITIVE)))
    with pytest.raises(DataError, match=r"a\.zip.*: truncated or damaged \(.*\)\. Replace it"):
        list(lines(path, "d/a"))


def flagged(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] | 1]) + content[position + 1 :]
