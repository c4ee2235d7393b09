"""The manifest of a task's text as piece ids; the arrays are NumPy's (tokens/arrays.py)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.results.json_files import plain, read_json, shaped

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class EncodedSide:
    """A language of a split. `tokens` counts pieces with the END of every sentence, `longest` those
    of the longest sentence; `sha256` goes by name of the array's file."""

    sentences: int
    tokens: int
    longest: int
    sha256: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class TokenManifest:
    """`vocabulary` is the number of pieces, above every id; `splits` go by name and side."""

    vocabulary: int
    splits: Mapping[str, Mapping[str, EncodedSide]]


def write(path: Path, manifest: TokenManifest) -> None:
    """Write the manifest of a folder of tokens."""
    write_atomically(path, json.dumps(plain(manifest), indent=2, sort_keys=True) + "\n")


def read(path: Path) -> TokenManifest:
    """The manifest of a folder of tokens.

    Raises:
        DataError: the file is missing, or is not a manifest of tokens.
    """
    return shaped(TokenManifest, read_json(path, _complaint), path, _complaint)


def _complaint(path: Path, what: str) -> DataError:
    return DataError(f"{path}: {what} Make it again: dvc repro -f encode@{path.parent.name}.")
