"""Sentences on disk: the references of a split with their identity, and the hypotheses for them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.errors import ScoreError


@dataclass(frozen=True, kw_only=True)
class References:
    """What a split's hypotheses are held against; `identity` says which test set it is."""

    path: Path
    sentences: tuple[str, ...]
    identity: dict[str, Any]


def read_references(folder: Path, split: str, side: str = "target") -> References:
    """`folder`/SPLIT.target, or another side, checked against the folder's manifest.json.

    Raises:
        ScoreError: a file is missing, the manifest does not describe the split, or the references
            are not the ones it describes.
    """
    path, manifest = folder / f"{split}.{side}", folder / "manifest.json"
    repair = f"Make the text again: dvc repro -f download@{folder.name}."
    try:
        described = json.loads(_read(manifest, repair))["splits"][split]
        identity = {key: described[key] for key in ("corpora", "pairs", "sha256")}
        digest = identity["sha256"][side]
    except (ValueError, KeyError, TypeError) as error:
        raise ScoreError(
            f"{manifest}: does not tell corpora, pairs and sha256 of {split}. {repair}"
        ) from error
    content = _read(path, repair)
    if hashlib.sha256(content).hexdigest() != digest:
        raise ScoreError(f"{path}: is not the file that {manifest} describes. {repair}")
    return References(path=path, sentences=_sentences(content, path, repair), identity=identity)


def read_hypotheses(path: Path, references: References) -> tuple[str, ...]:
    """The translations at `path`, one for each reference; some may be empty.

    Raises:
        ScoreError: the file is missing, empty or not UTF-8, or holds another number of lines.
    """
    repair = f"Decode again: dvc repro -f decode@{path.parent.name}."
    sentences = _sentences(_read(path, repair), path, repair)
    if len(sentences) != len(references.sentences):
        raise ScoreError(
            f"{path} has {len(sentences)} lines and {references.path} has "
            f"{len(references.sentences)}. {repair}"
        )
    return sentences


def _read(path: Path, repair: str) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ScoreError(f"{path}: there is no such file. {repair}") from error


def _sentences(content: bytes, path: Path, repair: str) -> tuple[str, ...]:
    """Lines as "\\n" parts them: other line separators of Unicode are part of a sentence."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ScoreError(f"{path}: line {line} is not UTF-8. {repair}") from error
    if not text:
        raise ScoreError(f"{path}: the file is empty. {repair}")
    return tuple(text.removesuffix("\n").split("\n"))
