"""Where text can come from: downloads, the project's own grammar, treebanks, random sequences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from aiayn.config.names import Name, check_reference
from aiayn.validation import Items, StrictModel, invalid

MOST_SYMBOLS = 26  # letters
SPARE = 64  # so many times the sequences drawn must exist: a split has a sixteenth of them
CHECKSUM = re.compile(r"sha256:[0-9a-fA-F]{64}|md5:[0-9a-fA-F]{32}")
SplitName = Literal["train", "dev", "test"]


def _check_url(url: str) -> str:
    if not _names_a_file(url):
        raise invalid("", f"is {url!r}; write http:// or https://, a host and a path without '..'.")
    return url


def _names_a_file(url: str) -> bool:
    """Whether HOST/PATH of a URL is a file below any folder."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and url.isprintable()
        and bool(parts.netloc)
        and bool(parts.path.strip("/"))
        and ".." not in (parts.netloc, *parts.path.split("/"))
    )


def _check_checksum(checksum: str) -> str:
    if not CHECKSUM.fullmatch(checksum):
        raise invalid(
            "", f"is {checksum!r}; write sha256: or md5: and its 64 or 32 hexadecimal digits."
        )
    return checksum


class Download(StrictModel):
    """A file to fetch from `url`, or from a mirror.

    `checksum` is "sha256:..." or, where only that is published, "md5:..."; `licence` says on what
    terms the text may be used; `bytes` is the file's size, where it is published.
    """

    url: Annotated[str, AfterValidator(_check_url)]
    checksum: Annotated[str, AfterValidator(_check_checksum)]
    licence: str
    bytes: PositiveInt | None = None

    @property
    def path(self) -> str:
        """HOST/PATH: where the file is in a mirror and among the downloads."""
        parts = urlsplit(self.url)
        return f"{parts.netloc}{parts.path}"


class Side(StrictModel):
    """One language of a corpus: a `download`, or a `file` of one's own, by its path from the
    project's folder; or a `member` of either, where that is an archive; or one `column` of it, from
    1, where a line has several, separated by tabs.

    `sha256` is that of a `file`: what composes the parameters writes it, so that another file is
    another parameter.
    """

    download: str | None = None
    file: str | None = None
    sha256: str | None = None
    member: str | None = None
    column: PositiveInt | None = None

    @property
    def source(self) -> str:
        """The name of the download, or the path of the file."""
        return self.download or self.file or ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.source or (self.download and self.file):
            raise invalid("", "needs download or file.")
        return self


class Grammar(StrictModel):
    """`sentences` made by the project's own grammar from a `seed`; no two `split`s share one."""

    split: SplitName
    sentences: PositiveInt
    seed: int


class Sequences(StrictModel):
    """`number` random sequences of `shortest` to `longest` symbols, of which there are `symbols`,
    drawn from a `seed`; no two `split`s share a sequence, whatever their seeds and lengths."""

    split: SplitName
    number: PositiveInt
    symbols: Annotated[int, Field(ge=2, le=MOST_SYMBOLS)]
    shortest: PositiveInt
    longest: int
    seed: int

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.shortest > self.longest:
            raise invalid("shortest", f"is {self.shortest}, above longest, {self.longest}.")
        if self.longest * math.log(self.symbols) < math.log(SPARE * self.number):
            raise invalid(
                "number",
                f"is {self.number}, too many: of {self.symbols} symbols there are {self.symbols}^"
                f"{self.longest} sequences of length {self.longest}, and {SPARE} times as many as "
                "are drawn are needed.",
            )
        return self


class Treebank(StrictModel):
    """Trees: those of `files` in a downloaded zip or tar archive, or in a folder of the user's.

    `folder` names an environment variable that holds the folder's path, so that the parameters
    contain no path of a machine. `files` are glob patterns; files are read in order of name.
    `division` is a download too: a file's number a line, without leading zeros; of an archive,
    these files alone are read, in this order.
    """

    download: str | None = None
    folder: str | None = None
    files: Annotated[Items[str], Field(min_length=1)]
    division: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.download is None) == (self.folder is None):
            raise invalid("", "needs download or folder.")
        if self.division is not None and self.download is None:
            raise invalid("division", "needs a download to divide.")
        return self


class Folds(StrictModel):
    """A part of a text: which `fold` of so many, from 0.

    A sentence's fold is a digest of the `seed` and the sentence, so all copies of a sentence are in
    one fold, and folds are about equally large.
    """

    fold: NonNegativeInt
    of: Annotated[int, Field(gt=1)]
    seed: int

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.fold >= self.of:
            raise invalid("fold", f"must be from 0 to {self.of - 1}.")
        return self


class Sample(Folds):
    """A dev set out of a corpus: one fold of its sentences in the language `by`, each with the
    first pair that has it. A task leaves out the pairs that share a side with its test sets."""

    by: Name


class Labelled(StrictModel):
    """Sentences, one a line, of each label: `texts` by label."""

    texts: Mapping[str, Side]
    folds: Folds | None = None


class Corpus(StrictModel):
    """Parallel text: `sides` by language from downloads, or a `grammar` that makes every side; or
    the trees of a `treebank`; or `labelled` sentences; or `sequences` to be copied. `sample` takes
    a part of the sides' pairs; `pairs` is how many there must be."""

    sides: Mapping[Name, Side] | None = None
    grammar: Grammar | None = None
    treebank: Treebank | None = None
    labelled: Labelled | None = None
    sequences: Sequences | None = None
    sample: Sample | None = None
    pairs: PositiveInt | None = None

    def downloads(self, languages: Iterable[str]) -> list[str]:
        """Names of the downloads that its text in these languages comes from, each once."""
        others = {
            f"sides.{language}" for language in (self.sides or {}) if language not in languages
        }
        return list(dict.fromkeys(name for key, name in self.references() if key not in others))

    def references(self) -> Iterator[tuple[str, str]]:
        """The key and the name of each download that the corpus uses."""
        for language, side in (self.sides or {}).items():
            if side.download is not None:
                yield f"sides.{language}", side.download
        if self.treebank is not None:
            if self.treebank.download is not None:
                yield "treebank", self.treebank.download
            if self.treebank.division is not None:
                yield "treebank.division", self.treebank.division
        if self.labelled is not None:
            for label, side in self.labelled.texts.items():
                if side.download is not None:
                    yield f"labelled.texts.{label}", side.download

    @property
    def own_files(self) -> list[Side]:
        """Its sides that are files of one's own."""
        sides = (self.sides or (self.labelled.texts if self.labelled else {})).values()
        return [side for side in sides if side.file is not None]

    @model_validator(mode="after")
    def _check(self) -> Self:
        kinds = (self.sides, self.grammar, self.treebank, self.labelled, self.sequences)
        if sum(kind is not None for kind in kinds) != 1:
            raise invalid("", "needs sides, a grammar, a treebank, labelled texts or sequences.")
        if self.sample is not None:
            check_reference(self.sample.by, self.sides or (), "sample.by", "language")
        return self


class Catalogue(StrictModel):
    """All downloads, and the corpora that are made of them, by name."""

    downloads: Mapping[Name, Download]
    corpora: Mapping[Name, Corpus]

    @model_validator(mode="after")
    def _check_references(self) -> Self:
        for name, corpus in self.corpora.items():
            for key, download in corpus.references():
                check_reference(download, self.downloads, f"corpora.{name}.{key}", "download")
        return self

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        first: dict[str, str] = {}
        for name, download in self.downloads.items():
            other = first.setdefault(download.path, name)
            if download.url != self.downloads[other].url:
                raise invalid(
                    f"downloads.{name}.url",
                    f"is {download.url!r}, and that of {other} is {self.downloads[other].url!r}: "
                    f"both files would be stored at {download.path}; give one a URL of another "
                    "host or path.",
                )
        return self
