"""Text as it passes between stages: sentences, one a line, and the manifest of a task's text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.results import paths
from aiayn.results.json_files import json_text, read_bytes, read_json
from aiayn.validation import StrictModel

FORMAT = 1

RAW = "raw"  # the form of text that is as its corpora have it


class Part(StrictModel):
    """What a corpus gave to a split, in pairs. Of training text, the only text that is cleaned, and
    of a sampled dev set also how many of them were kept, and how many each rule dropped."""

    pairs: int
    kept: int | None = None
    dropped: Mapping[str, int] | None = None


class Split(StrictModel):
    """A set of sentence pairs; `words` and `sha256` go by side.

    `overlap` counts, by side and in pairs, the lines of a dev or test set that also occur in the
    training text.
    """

    corpora: Mapping[str, Part]
    pairs: int
    words: Mapping[str, int]
    sha256: Mapping[str, str]
    overlap: Mapping[str, int] | None = None


class Manifest(StrictModel):
    """What went into a task's text and what not.

    `languages` goes by side; `form` is RAW or what the parameters call the text's form;
    `cleaning` has the rules, `downloads` the catalogue's entries that were used, both as they stand
    in the parameters. `splits` has train, dev and the test sets.
    """

    task: str
    languages: Mapping[str, str]
    form: str
    cleaning: Mapping[str, Any]
    downloads: Mapping[str, Any]
    splits: Mapping[str, Split]

    @property
    def content(self) -> str:
        """What the file holds."""
        return json_text(self, indent=2, sort_keys=True)

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return hashlib.sha256(self.content.encode()).hexdigest()


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a task's manifest."""
    write_atomically(path, manifest.content)


def read_manifest(path: Path) -> Manifest:
    """A task's manifest.

    Raises:
        DataError: the file is missing, or is not a manifest of text.
    """
    return read_json(Manifest, path, _file_error)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Sentences without a newline in them, one a line."""
    write_atomically(path, "".join(f"{line}\n" for line in lines))


def read_lines(path: Path) -> tuple[str, ...]:
    """The lines of a text, or of the hypotheses for one, without their ends.

    Only a newline ends a line: other line separators of Unicode are part of a sentence.

    Raises:
        DataError: the file is missing, empty or not UTF-8.
    """
    return parse_lines(read_content(path), path)


def read_parallel(*files: Path) -> list[tuple[str, ...]]:
    """The lines of files that belong together, line by line.

    Raises:
        DataError: as `read_lines`, or a file has not as many lines as the first.
    """
    columns = [read_lines(path) for path in files]
    for path, lines in zip(files, columns, strict=True):
        if len(lines) != len(columns[0]):
            raise DataError(
                f"{files[0]} has {len(columns[0])} lines and {path} has {len(lines)}. "
                "Make both again: dvc repro."
            )
    return columns


def read_content(path: Path) -> bytes:
    """A text as it lies there. Raises DataError: the file is missing."""
    return read_bytes(path, _file_error)


def parse_lines(content: bytes, path: Path) -> tuple[str, ...]:
    """The lines of what stood at `path`; see `read_lines`."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise _file_error(path, f"line {line} is not UTF-8.") from error
    if not text:
        raise _file_error(path, "the file is empty.")
    return tuple(text.removesuffix("\n").split("\n"))


def _file_error(path: Path, what: str) -> DataError:
    """Text lies in a folder of its task, hypotheses in one of their run."""
    decoded = path == paths.hypotheses(path.parent, path.stem)
    stage = "decode" if decoded else "download"
    return DataError(f"{path}: {what} Make it again: dvc repro -f {stage}@{path.parent.name}.")
