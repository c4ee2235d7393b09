"""Text files, one sentence per line, and the manifest of a task's text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.results import paths
from aiayn.results.json_files import JsonFile, file_error, read_bytes
from aiayn.validation import StrictModel

FORMAT = 1

RAW = "raw"  # the form of unprocessed text


class Part(StrictModel):
    """A corpus's pairs in a split. Training text (the only text that is cleaned) and sampled dev
    sets also have the numbers of pairs kept, and dropped by each rule."""

    pairs: int
    kept: int | None = None
    dropped: Mapping[str, int] | None = None


class Split(StrictModel):
    """A set of sentence pairs; `words` and `sha256` are by side.

    `overlap` is the number of lines of a dev or test set that also occur in the training text, by
    side and for both sides of a pair.
    """

    corpora: Mapping[str, Part]
    pairs: int
    words: Mapping[str, int]
    sha256: Mapping[str, str]
    overlap: Mapping[str, int] | None = None


class Manifest(StrictModel):
    """The contents and origin of a task's text.

    `languages` is by side; `form` is RAW or the parameters' form; `cleaning` has the rules and
    `downloads` the catalogue's entries that were used, both as in the parameters. `splits` has
    train, dev and the test sets.
    """

    task: str
    languages: Mapping[str, str]
    form: str
    cleaning: Mapping[str, Any]
    downloads: Mapping[str, Any]
    splits: Mapping[str, Split]

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return hashlib.sha256(_MANIFEST.content(self).encode()).hexdigest()


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write sentences, one per line. They may not contain newlines."""
    write_atomically(path, "".join(f"{line}\n" for line in lines))


def read_lines(path: Path) -> tuple[str, ...]:
    """The lines of a text or of hypotheses, without newlines.

    Only a newline ends a line: Unicode's other line separators are part of a sentence.

    Raises:
        DataError: the file is missing, empty or not UTF-8.
    """
    return parse_lines(read_content(path), path)


def read_parallel(*files: Path) -> list[tuple[str, ...]]:
    """The lines of files that are aligned line by line.

    Raises:
        DataError: as `read_lines`, or the numbers of lines differ.
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
    """The bytes of a text. Raises DataError if the file is missing."""
    return read_bytes(path, _file_error)


def parse_lines(content: bytes, path: Path) -> tuple[str, ...]:
    """The lines of the content of `path`; see `read_lines`."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise _file_error(path, f"line {line} is not UTF-8.") from error
    if not text:
        raise _file_error(path, "the file is empty.")
    return tuple(text.removesuffix("\n").split("\n"))


def _stage(path: Path) -> str:
    """Text is in its task's folder, hypotheses are in their run's folder."""
    decoded = path == paths.hypotheses(path.parent, path.stem)
    return f"{'decode' if decoded else 'download'}@{path.parent.name}"


_file_error = file_error(DataError, _stage)
_MANIFEST = JsonFile(Manifest, _file_error, indent=2, sort_keys=True)
write_manifest, read_manifest = _MANIFEST.write, _MANIFEST.read
