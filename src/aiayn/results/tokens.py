"""The manifest of a task's text as piece ids, whose arrays data/tokens/arrays.py reads."""

from __future__ import annotations

from collections.abc import Mapping

from aiayn.errors import DataError
from aiayn.results.json_files import JsonFile, file_error
from aiayn.validation import StrictModel

FORMAT = 1


class EncodedSide(StrictModel):
    """A side of a split. `tokens` is the number of pieces, including the END of every sentence,
    `longest` that of the longest sentence; `sha256` is by name of the array's file."""

    sentences: int
    tokens: int
    longest: int
    sha256: Mapping[str, str]


class TokenManifest(StrictModel):
    """`vocabulary` is the number of pieces: ids are smaller; `splits` are by name and side."""

    vocabulary: int
    splits: Mapping[str, Mapping[str, EncodedSide]]


_file_error = file_error(DataError, lambda path: f"encode@{path.parent.name}")
_FILE = JsonFile(TokenManifest, _file_error, indent=2, sort_keys=True)
write, read = _FILE.write, _FILE.read
