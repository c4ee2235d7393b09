"""Small corpora in a mirror of their own, and where the real ones are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn.config import Catalogue, Cleaning, Corpus, Download, Side, Text
from aiayn.typed import build

REPOSITORY = Path(__file__).parents[2]
NO_RULES = Cleaning(
    invalid_utf8=False,
    empty=False,
    max_words=None,
    max_ratio=None,
    identical=False,
    duplicates=False,
)


def _shared(name: str) -> Path:
    folder = REPOSITORY.parent / "shared" / name
    if not folder.is_dir():
        pytest.skip(f"the mirror ../shared/{name} is not here")
    return folder


@pytest.fixture(scope="session")
def multi30k_mirror() -> Path:
    """The real Multi30k files."""
    return _shared("mirror")


@pytest.fixture(scope="session")
def wmt14_mini_mirror() -> Path:
    """WMT14's English-German archives in miniature."""
    return _shared("wmt14-mini")


def _catalogue(name: str) -> Catalogue:
    content: dict[str, Any] = yaml.safe_load(
        (REPOSITORY / "conf" / "catalogue" / f"{name}.yaml").read_text()
    )
    catalogue: Catalogue = build(Catalogue, content, "")
    return catalogue


@pytest.fixture(scope="session")
def catalogue() -> Callable[[str], Catalogue]:
    """conf/catalogue/NAME.yaml, by name."""
    return _catalogue


class Corner:
    """A catalogue whose downloads are files of a mirror folder, made as a test needs them."""

    def __init__(self, folder: Path) -> None:
        self.mirror = folder / "mirror"
        self.raw = folder / "raw"
        self.text = folder / "text" / "en-de"
        self.catalogue = Catalogue(downloads={}, corpora={})

    def add(self, name: str, en: bytes, de: bytes, pairs: int | None = None) -> None:
        """Add a corpus of two plain files, or put another in its place."""
        downloads = dict(self.catalogue.downloads)
        for language, content in (("en", en), ("de", de)):
            path = self.mirror / "host" / f"{name}.{language}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            downloads[path.name] = Download(
                url=f"http://host/{path.name}",
                checksum=f"sha256:{hashlib.sha256(content).hexdigest()}",
                licence="none",
            )
        sides = {language: Side(download=f"{name}.{language}") for language in ("en", "de")}
        corpora = {**self.catalogue.corpora, name: Corpus(sides=sides, pairs=pairs)}
        self.catalogue = replace(self.catalogue, downloads=downloads, corpora=corpora)

    def task(self, *train: str, **cleaning: Any) -> Text:
        """A task of these corpora; of the cleaning rules, only those that are given."""
        return Text(
            source="en",
            target="de",
            train=train,
            dev="dev",
            tests={"test": "test"},
            cleaning=replace(NO_RULES, **cleaning),
        )


@pytest.fixture
def corner(tmp_path: Path) -> Corner:
    """A corner with a dev and a test set."""
    corner = Corner(tmp_path)
    corner.add("dev", b"a dev sentence\n", b"ein Satz\n")
    corner.add("test", b"a test sentence\n", b"ein Test\n")
    return corner
