"""Where text can come from: downloads, the project's own grammar, treebanks, random sequences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from aiayn.config.rules import known, named, positive, require

MOST_SYMBOLS = 26  # letters
SPARE = 64  # so many times the sequences drawn must there be: a split has a sixteenth of them
CHECKSUM = re.compile(r"sha256:[0-9a-fA-F]{64}|md5:[0-9a-fA-F]{32}")


@dataclass(frozen=True, kw_only=True)
class Download:
    """A file to fetch from `url`, or from its place in a mirror.

    `checksum` is "sha256:..." or, where only that is published, "md5:..."; `licence` tells on what
    terms the text may be used; `bytes` is the file's size, where it is published.
    """

    url: str
    checksum: str
    licence: str
    bytes: int | None = None

    @property
    def place(self) -> str:
        """HOST/PATH, where the file lies in a mirror and among the downloads."""
        parts = urlsplit(self.url)
        return f"{parts.netloc}{parts.path}"

    def check(self, key: str) -> None:
        """Raises ConfigError where the file would have no place in a mirror, or could not be
        checked."""
        require(
            _has_a_place(self.url),
            f"{key}.url",
            f"is {self.url!r}; write http:// or https://, a host and a path without '..'",
        )
        require(
            CHECKSUM.fullmatch(self.checksum) is not None,
            f"{key}.checksum",
            f"is {self.checksum!r}; write sha256: or md5: and its 64 or 32 hexadecimal digits",
        )
        positive(f"{key}.bytes", self.bytes)


def _has_a_place(url: str) -> bool:
    """Whether HOST/PATH of a URL is a file below any folder."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    steps = [parts.netloc, *parts.path.split("/")]
    return (
        parts.scheme in ("http", "https")
        and url.isprintable()
        and bool(parts.netloc)
        and bool(parts.path.strip("/"))
        and ".." not in steps
    )


@dataclass(frozen=True, kw_only=True)
class Side:
    """One language of a corpus: a download, or a `member` of the archive that was downloaded."""

    download: str
    member: str | None = None


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """`sentences` made by the project's own grammar from a `seed`; no two `split`s share one."""

    split: Literal["train", "dev", "test"]
    sentences: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Sequences:
    """`number` random sequences of `shortest` to `longest` symbols, of which there are `symbols`,
    drawn from a `seed`; no two `split`s share a sequence, whatever their seeds and lengths."""

    split: Literal["train", "dev", "test"]
    number: int
    symbols: int
    shortest: int
    longest: int
    seed: int

    def check(self, key: str) -> None:
        """Raises ConfigError where there are not as many different sequences."""
        positive(f"{key}.number", self.number)
        require(
            2 <= self.symbols <= MOST_SYMBOLS,
            f"{key}.symbols",
            f"is {self.symbols}; it must be from 2 to {MOST_SYMBOLS}, the letters",
        )
        require(
            1 <= self.shortest <= self.longest,
            f"{key}.shortest",
            f"is {self.shortest}; it must be from 1 to longest, {self.longest}",
        )
        require(
            self.longest * math.log(self.symbols) >= math.log(SPARE * self.number),
            f"{key}.number",
            f"is {self.number}, too many: of {self.symbols} symbols there are {self.symbols}^"
            f"{self.longest} sequences of length {self.longest}, and {SPARE} times as many as are "
            "drawn are needed",
        )


@dataclass(frozen=True, kw_only=True)
class Treebank:
    """Trees: those of `files` in a downloaded zip or tar archive, or in a folder of the user's.

    `folder` names an environment variable that holds the folder's path, so that no path of a
    machine stands in the parameters. `files` are glob patterns; files are read in order of name.
    `division` is a download too: a file's number a line, leading zeros apart; of an archive, these
    files alone are read, in this order.
    """

    download: str | None = None
    folder: str | None = None
    files: tuple[str, ...]
    division: str | None = None

    def check(self, key: str, downloads: Mapping[str, Download]) -> None:
        """Raises ConfigError unless the trees have one place and some files."""
        require((self.download is None) != (self.folder is None), key, "needs download or folder")
        if self.download is not None:
            known(self.download, downloads, key, "download")
        if self.division is not None:
            known(self.division, downloads, f"{key}.division", "download")
            require(self.download is not None, f"{key}.division", "needs a download to divide")
        require(bool(self.files), f"{key}.files", "is empty")


@dataclass(frozen=True, kw_only=True)
class Folds:
    """A part of a text: which `fold` of so many, from 0.

    A sentence's fold is a digest of the `seed` and the sentence, so one that occurs twice is never
    divided from itself, and folds are about as large as each other.
    """

    fold: int
    of: int
    seed: int

    def check(self, key: str) -> None:
        """Raises ConfigError unless there is such a fold."""
        require(self.of > 1, f"{key}.of", f"is {self.of}; it must be above 1")
        require(0 <= self.fold < self.of, f"{key}.fold", f"must be from 0 to {self.of - 1}")


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Sentences, one a line, of each label: `texts` by label."""

    texts: Mapping[str, Side]
    folds: Folds | None = None

    def check(self, key: str, downloads: Mapping[str, Download]) -> None:
        """Raises ConfigError where a text is not there, or its fold."""
        for label, side in self.texts.items():
            known(side.download, downloads, f"{key}.texts.{label}", "download")
        if self.folds is not None:
            self.folds.check(f"{key}.folds")


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Parallel text: `sides` by language from downloads, or a `grammar` that makes every side; or
    the trees of a `treebank`; or `labelled` sentences; or `sequences` to be copied. `pairs` tells
    how many there must be."""

    sides: Mapping[str, Side] | None = None
    grammar: Grammar | None = None
    treebank: Treebank | None = None
    labelled: Labelled | None = None
    sequences: Sequences | None = None
    pairs: int | None = None

    def downloads(self, languages: Iterable[str]) -> list[str]:
        """Names of the downloads that its text in these languages comes from, each once."""
        if self.sides is not None:
            names = [self.sides[language].download for language in languages]
        elif self.treebank is not None:
            both = (self.treebank.download, self.treebank.division)
            names = [name for name in both if name is not None]
        elif self.labelled is not None:
            names = [side.download for side in self.labelled.texts.values()]
        else:
            names = []
        return list(dict.fromkeys(names))

    def check(self, key: str, downloads: Mapping[str, Download]) -> None:
        """Raises ConfigError unless the corpus comes from one kind of place, and that exists."""
        kinds = (self.sides, self.grammar, self.treebank, self.labelled, self.sequences)
        require(
            sum(kind is not None for kind in kinds) == 1,
            key,
            "needs sides, a grammar, a treebank, labelled texts or sequences",
        )
        positive(f"{key}.pairs", self.pairs)
        if self.grammar is not None:
            positive(f"{key}.grammar.sentences", self.grammar.sentences)
        for language, side in (self.sides or {}).items():
            named(language, f"{key}.sides")
            known(side.download, downloads, f"{key}.sides.{language}", "download")
        if self.treebank is not None:
            self.treebank.check(f"{key}.treebank", downloads)
        if self.labelled is not None:
            self.labelled.check(f"{key}.labelled", downloads)
        if self.sequences is not None:
            self.sequences.check(f"{key}.sequences")


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All downloads, and the corpora that are made of them, by name."""

    downloads: Mapping[str, Download]
    corpora: Mapping[str, Corpus]

    def check(self) -> None:
        """Raises ConfigError where a corpus or a download makes no sense."""
        for section in ("downloads", "corpora"):
            for name in getattr(self, section):
                named(name, f"catalogue.{section}")
        for name, corpus in self.corpora.items():
            corpus.check(f"catalogue.corpora.{name}", self.downloads)
        at: dict[str, str] = {}
        for name, download in self.downloads.items():
            key = f"catalogue.downloads.{name}"
            download.check(key)
            first = at.setdefault(download.place, name)
            other = self.downloads[first].url
            require(
                download.url == other,
                f"{key}.url",
                f"is {download.url!r}, and that of {first} is {other!r}: both files would lie at "
                f"{download.place}, and only one can; give one a URL of another host or path",
            )
