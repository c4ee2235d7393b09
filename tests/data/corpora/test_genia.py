"""The GENIA treebank as distributed, compared with McClosky's trees of dev and test."""

from __future__ import annotations

import html
import io
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from aiayn.config import Catalogue, Corpus, Treebank
from aiayn.data.corpora.fetching import fetch
from aiayn.data.corpora.reading import Parallel
from aiayn.data.trees.reading import read_tree
from aiayn.data.trees.tree import Tree
from aiayn.errors import DataError

pytestmark = pytest.mark.slow

CLOSING_QUOTE = " ('' '')"


def parallel(catalogue: Catalogue, name: str, mirror: Path) -> Parallel:
    files = fetch(catalogue.downloads, mirror / "unused", str(mirror))
    return Parallel(name, catalogue.corpora[name], ("en", "tree"), files, "tags")


@pytest.mark.parametrize(
    ("name", "words", "brackets"),  # counted in his trees, below S1 and the extra node
    [("genia-dev", 36_180, 29_555), ("genia-test", 35_639, 29_602)],
)
def test_held_out_trees_are_mccloskys(
    name: str,
    words: int,
    brackets: int,
    catalogue: Callable[[str], Catalogue],
    multi30k_mirror: Path,
) -> None:
    genia = catalogue("genia")
    ours = list(parallel(genia, name, multi30k_mirror).trees())
    path = genia.downloads[f"{name}-pmids"].url.removeprefix("https://")
    file = (multi30k_mirror / path).with_suffix(".trees")
    lines = file.read_text(encoding="utf-8").splitlines()
    theirs = [read_tree(line, str(file)) for line in lines]
    assert len(ours) == len(theirs) == genia.corpora[name].pairs
    assert sum(len(tree.words) for tree in theirs) == words
    assert sum(len(tree.brackets) - 1 for tree in theirs) == brackets
    assert sum(len(tree.brackets) for tree in ours) == brackets
    reformatted = [wrapped(tree) for tree in ours]
    expected = {"genia-dev": (1349, 1360, 1361), "genia-test": (1338, 1358, 1360)}[name]
    resolved = [html.unescape(line) for line in lines]
    unclosed = [line.replace(CLOSING_QUOTE, "") for line in reformatted]
    assert (matches(reformatted, lines), matches(reformatted, resolved)) == expected[:2]
    # except for the closing quotation marks missing from his trees
    assert (
        sum(
            his in (line, short)
            for line, short, his in zip(reformatted, unclosed, resolved, strict=True)
        )
        == expected[2]
    )


def wrapped(tree: Tree) -> str:
    return re.sub(r"^\(TOP (.*)\)$", r"(S1 (S \1))", str(tree))


def matches(some: list[str], others: list[str]) -> int:
    return sum(a == b for a, b in zip(some, others, strict=True))


def test_the_number_of_training_trees_is_mccloskys(
    catalogue: Callable[[str], Catalogue], multi30k_mirror: Path
) -> None:
    pairs = list(parallel(catalogue("genia"), "genia-train", multi30k_mirror).pairs())
    assert len(pairs) == 14_326  # checked by `pairs` too, against the declared number


def archive(folder: Path, **files: str) -> Path:
    path = folder / "bank.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"bank/{name}.xml")
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return path


def sentence(word: str) -> str:
    return f"<a><sentence><cons cat='NP'><tok cat='NN'>{word}</tok></cons></sentence></a>"


@pytest.fixture
def divided(tmp_path: Path) -> Callable[[str], Parallel]:
    """A corpus of three files in a tar, divided by a list of files."""
    bank = archive(tmp_path, **{"7": sentence("a"), "81": sentence("b"), "9": sentence("c")})

    def corpus(listed: str) -> Parallel:
        (tmp_path / "part").write_text(listed)
        treebank = Treebank(download="bank", files=("bank/*.xml",), division="part")
        files = {"bank": bank, "part": tmp_path / "part"}
        return Parallel("part", Corpus(treebank=treebank), ("en", "tree"), files, "tags")

    return corpus


def test_a_division_names_files_and_their_order(divided: Callable[[str], Parallel]) -> None:
    assert [tree.words for tree in divided("81\n00007\n").trees()] == [("b",), ("a",)]


def test_a_division_that_names_another_file(divided: Callable[[str], Parallel]) -> None:
    with pytest.raises(DataError, match="corpus part: .*part lists 82, but the treebank has no"):
        list(divided("7\n82\n").trees())


def test_a_damaged_tar(divided: Callable[[str], Parallel]) -> None:
    corpus = divided("7\n")
    path = corpus.files["bank"]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match=r"bank\.tar\.gz: truncated or damaged \(.*\)\. Replace it"):
        list(corpus.trees())
