"""A corpus agrees with the catalogue, or an error says how it differs."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from aiayn.config import Corpus, Sample, Side
from aiayn.data.corpora.reading import Parallel
from aiayn.errors import DataError


def parallel(folder: Path, en: bytes, de: bytes, pairs: int | None = None) -> Parallel:
    files = {"a.en": folder / "a.en", "a.de": folder / "a.de"}
    for path, content in zip(files.values(), (en, de), strict=True):
        path.write_bytes(content)
    sides = {"en": Side(download="a.en"), "de": Side(download="a.de")}
    return Parallel("europarl", Corpus(sides=sides, pairs=pairs), ("en", "de"), files)


def test_pairs_in_order(tmp_path: Path) -> None:
    corpus = parallel(tmp_path, b"one\ntwo\n", b"eins\nzwei\n", pairs=2)
    assert list(corpus.pairs()) == [(b"one", b"eins"), (b"two", b"zwei")]


@pytest.mark.parametrize(
    ("en", "de", "counts"),
    [
        (b"1\n2\n3\n4\n", b"1\n", (4, 1)),
        (b"1\n2\n", b"1\n2\n3\n4\n5\n", (2, 5)),
        (b"", b"1\n", (0, 1)),
    ],
)
def test_unequal_line_counts(tmp_path: Path, en: bytes, de: bytes, counts: tuple[int, int]) -> None:
    with pytest.raises(DataError) as caught:
        list(parallel(tmp_path, en, de).pairs())
    assert str(caught.value) == (
        f"corpus europarl: {counts[0]} lines in {tmp_path}/a.en but {counts[1]} lines in "
        f"{tmp_path}/a.de. The files must be aligned line by line."
    )


def test_an_empty_corpus(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        list(parallel(tmp_path, b"", b"").pairs())
    assert str(caught.value) == (
        f"corpus europarl: no line in {tmp_path}/a.en and {tmp_path}/a.de. Replace the files."
    )


def test_a_wrong_number_of_pairs(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        list(parallel(tmp_path, b"1\n2\n", b"1\n2\n", pairs=3).pairs())
    assert str(caught.value) == (
        "corpus europarl: 2 pairs, but 3 are declared. "
        "Replace the files, or correct catalogue.corpora.europarl.pairs."
    )


def in_columns(folder: Path, content: bytes, sample: Sample | None = None) -> Parallel:
    archive = folder / "pairs.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("deu.txt", content)
    sides = {
        language: Side(download="pairs", member="deu.txt", column=column)
        for column, language in enumerate(("en", "de"), start=1)
    }
    corpus = Corpus(sides=sides, sample=sample)
    return Parallel("tatoeba", corpus, ("de", "en"), {"pairs": archive})


def test_columns_of_an_archive_member(tmp_path: Path) -> None:
    corpus = in_columns(tmp_path, b"Hi.\tHallo!\tCC-BY\nRun!\tLauf!\n")
    assert list(corpus.pairs()) == [(b"Hallo!", b"Hi."), (b"Lauf!", b"Run!")]


def test_a_line_without_the_column(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        list(in_columns(tmp_path, b"Hi.\tHallo!\nRun! Lauf!\n").pairs())
    assert str(caught.value) == (
        f"{tmp_path}/pairs.zip, member deu.txt, line 2: has no column 2; columns are separated by "
        "tabs. Replace the file, or correct `column` in conf/catalogue."
    )


def test_samples_divide_the_sentences_without_duplicates(tmp_path: Path) -> None:
    sentences = [b"sentence %d" % number for number in range(300)]
    lines = b"".join(b"%s\t%s %d\n" % (s, s, n) for n in range(2) for s in sentences)
    folds = [
        list(in_columns(tmp_path, lines, Sample(by="en", fold=fold, of=3, seed=1)).pairs())
        for fold in range(3)
    ]
    assert all(70 < len(fold) < 130 for fold in folds)
    drawn = [pair for fold in folds for pair in fold]
    assert sorted(drawn) == sorted((sentence + b" 0", sentence) for sentence in sentences)
    doubled = lines.replace(b"\t", b" \t") + lines  # white space around a sentence does not count
    spaced = in_columns(tmp_path, doubled, Sample(by="en", fold=0, of=3, seed=1))
    assert len(list(spaced.pairs())) == len(folds[0])
    # by the definition: a digest of seed and sentence
    digest = hashlib.sha256(b"1\n" + folds[2][0][1]).digest()
    assert int.from_bytes(digest[:8], "big") % 3 == 2
