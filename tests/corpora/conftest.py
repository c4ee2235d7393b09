"""Small corpora in a mirror of their own, and where the real ones are."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn.config import Catalogue, Cleaning, Corpus, Download, Side, Text

REPOSITORY = Path(__file__).parents[2]
NO_RULES = Cleaning(
    invalid_utf8=False,
    empty=False,
    max_words=None,
    max_ratio=None,
    identical=False,
    duplicates=False,
)


def shared(name: str) -> Path:
    """A mirror of real data beside the repository; skips the test where it is absent."""
    folder = REPOSITORY.parent / "shared" / name
    if not folder.is_dir():
        pytest.skip(f"the mirror ../shared/{name} is not here")
    return folder


def sha256(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def read_catalogue(name: str) -> Catalogue:
    """conf/catalogue/NAME.yaml."""
    content: dict[str, Any] = yaml.safe_load(
        (REPOSITORY / "conf" / "catalogue" / f"{name}.yaml").read_text()
    )
    return Catalogue(
        downloads={key: Download(**value) for key, value in content["downloads"].items()},
        corpora={
            key: Corpus(
                sides={language: Side(**side) for language, side in value["sides"].items()},
                pairs=value.get("pairs"),
            )
            for key, value in content["corpora"].items()
        },
    )


def tar_of(members: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


class Corner:
    """A catalogue whose downloads are files of a mirror folder, made as a test needs them."""

    def __init__(self, folder: Path) -> None:
        self.mirror = folder / "mirror"
        self.raw = folder / "raw"
        self.text = folder / "text" / "en-de"
        self.catalogue = Catalogue(downloads={}, corpora={})

    def add(self, name: str, en: bytes, de: bytes, pairs: int | None = None) -> None:
        """A corpus of two plain files."""
        downloads = dict(self.catalogue.downloads)
        for language, content in (("en", en), ("de", de)):
            path = self.mirror / "host" / f"{name}.{language}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            url = f"http://host/{path.name}"
            downloads[path.name] = Download(url=url, checksum=sha256(path), licence="none")
        sides = {language: Side(download=f"{name}.{language}") for language in ("en", "de")}
        corpora = {**self.catalogue.corpora, name: Corpus(sides=sides, pairs=pairs)}
        self.catalogue = replace(self.catalogue, downloads=downloads, corpora=corpora)

    def task(self, *train: str, cleaning: Cleaning = NO_RULES) -> Text:
        """A task over these corpora, with corpora named dev and test beside them."""
        return Text(
            source="en",
            target="de",
            train=train,
            dev="dev",
            tests={"test": "test"},
            cleaning=cleaning,
        )


@pytest.fixture
def corner(tmp_path: Path) -> Corner:
    """A corner with a dev and a test set."""
    corner = Corner(tmp_path)
    corner.add("dev", b"a dev sentence\n", b"ein Satz\n")
    corner.add("test", b"a test sentence\n", b"ein Test\n")
    return corner
