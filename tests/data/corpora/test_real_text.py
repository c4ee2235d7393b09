"""Tasks made of real corpora, with the counts that their publishers give; skipped without the mirror."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiayn.config import Catalogue, Cleaning, Text
from aiayn.data.corpora.assembly import assemble


def lines(path: Path) -> list[str]:
    return path.read_bytes().decode().removesuffix("\n").split("\n")


MULTI30K_TESTS = {
    "test": "multi30k-test-2016-flickr",
    "test_2017_flickr": "multi30k-test-2017-flickr",
    "test_2017_mscoco": "multi30k-test-2017-mscoco",
}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["de", "fr"])
def test_multi30k(
    multi30k_mirror: Path,
    catalogue: Callable[[str], Catalogue],
    tmp_path: Path,
    target: str,
) -> None:
    rules = Cleaning(
        invalid_utf8=True, empty=True, max_words=250, max_ratio=9, identical=True, duplicates=True
    )
    text = Text(
        source="en",
        target=target,
        train=("multi30k-train",),
        dev="multi30k-val",
        tests=MULTI30K_TESTS,
        cleaning=rules,
    )
    folder = tmp_path / "text"
    assemble("x", text, catalogue("multi30k"), folder, tmp_path / "raw", str(multi30k_mirror))
    splits = json.loads((folder / "manifest.json").read_bytes())["splits"]
    train = splits["train"]["corpora"]["multi30k-train"]
    assert train["pairs"] == train["kept"] + sum(train["dropped"].values()) == 29_000
    assert train["kept"] > 28_900  # the captions are clean
    raw = multi30k_mirror / "raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
    for split, name in [("dev", "val"), ("test_2017_mscoco", "test_2017_mscoco")]:
        for side, language in [("source", "en"), ("target", target)]:
            original = gzip.decompress((raw / f"{name}.{language}.gz").read_bytes()).decode()
            stripped = [line.strip() for line in original.removesuffix("\n").split("\n")]
            assert lines(folder / f"{split}.{side}") == stripped


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "shared"), [("de", 169_813 - 159_563), ("fr", 167_130 - 153_232)]
)
def test_tatoeba(
    multi30k_mirror: Path,
    catalogue: Callable[[str], Catalogue],
    tmp_path: Path,
    workspace: Any,
    language: str,
    shared: int,
) -> None:
    """`shared`: by the mirror's README, how many pairs share a side with the test set."""
    corpora = {
        "train": (f"tatoeba-{language}-en",),
        "dev": f"tatoeba-test-{language}-en",
        "tests": {"test": f"tatoeba-test-{language}-en"},
    }
    text = workspace.task(held_out=True).replace(target=language, **corpora)
    mirror = str(multi30k_mirror)
    assemble("en-de", text, catalogue("tatoeba"), workspace.text, workspace.raw, mirror)
    splits = json.loads((workspace.text / "manifest.json").read_text())["splits"]
    dropped = splits["train"]["corpora"][f"tatoeba-{language}-en"]["dropped"]["held_out"]
    assert dropped == pytest.approx(
        shared, rel=0.002
    )  # its definition of letters and digits differs


@pytest.mark.slow
def test_multi30k_in_the_published_form(
    multi30k_mirror: Path, catalogue: Callable[[str], Catalogue], tmp_path: Path, workspace: Any
) -> None:
    text = workspace.task("multi30k-val", empty=True).replace(
        form="lowercased_tokens",
        dev="multi30k-val",
        tests={"test": "multi30k-test-2016-flickr"},
    )
    mirror = str(multi30k_mirror)
    assemble("en-de", text, catalogue("multi30k"), workspace.text, workspace.raw, mirror)
    splits = json.loads((workspace.text / "manifest.json").read_text())["splits"]
    # of German, what Multi30k's README says of its lc.norm.tok files; 12,103 is also the length of
    # the published BLEU's reference
    assert splits["dev"]["words"]["target"] == 12828
    assert splits["test"]["words"]["target"] == 12103


def test_wmt14_in_miniature(
    wmt14_mini_mirror: Path, catalogue: Callable[[str], Catalogue], tmp_path: Path
) -> None:
    real = catalogue("wmt14")
    readme = (wmt14_mini_mirror / "README.md").read_text()
    mini = {  # the mirror's own list of checksums
        cells[1].strip(): f"sha256:{cells[2].strip()}"
        for cells in (line.split("|") for line in readme.splitlines())
        if len(cells) == 4
    }
    downloads = {
        name: entry.replace(checksum=mini[entry.url.removeprefix("http://")], bytes=None)
        for name, entry in real.downloads.items()
        if entry.url.removeprefix("http://") in mini
    }
    sizes = {"newstest2013": 500, "newstest2014-de-en": 500}
    train = ("europarl-v7-de-en", "commoncrawl-de-en", "news-commentary-v9-de-en")
    corpora = {name: real.corpora[name].replace(pairs=sizes.get(name)) for name in (*train, *sizes)}
    text = Text(
        source="en",
        target="de",
        train=train,
        dev="newstest2013",
        tests={"test": "newstest2014-de-en"},
        cleaning=Cleaning(
            invalid_utf8=True,
            empty=True,
            max_words=250,
            max_ratio=9,
            identical=False,
            duplicates=False,
        ),
    )
    folder = tmp_path / "text"
    catalogue_of_mini = Catalogue(downloads=downloads, corpora=corpora)
    assemble("en-de", text, catalogue_of_mini, folder, tmp_path / "raw", str(wmt14_mini_mirror))
    splits = json.loads((folder / "manifest.json").read_bytes())["splits"]
    read = {name: splits["train"]["corpora"][name]["pairs"] for name in train}
    assert list(read.values()) == [4000, 3000, 1999]  # the mirror's README
    assert splits["dev"]["pairs"] == splits["test"]["pairs"] == 500
    assert "Bugzilla" in lines(folder / "dev.source")[0]
    assert "Bugzilla" in lines(folder / "dev.target")[0]
