"""Labelled sentences: one text for each label, divided into folds."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from aiayn.config import Folds, Labelled
from aiayn.data.corpora.archives import describe, lines_of
from aiayn.errors import DataError

Pair = tuple[bytes, bytes]


def labelled_sentences(labelled: Labelled, files: Mapping[str, Path]) -> Iterator[Pair]:
    """Every sentence of the fold with its label, label by label.

    Args:
        files: a local path for each download.
    Raises:
        DataError: a file is damaged.
    """
    for label, side in labelled.texts.items():
        for sentence in lines_of(side, files[side.source]):
            if labelled.folds is None or fold(sentence, labelled.folds) == labelled.folds.fold:
                yield sentence, label.encode()


def fold(sentence: bytes, folds: Folds) -> int:
    """The fold of a sentence, from its digest: the same on every machine."""
    digest = hashlib.sha256(f"{folds.seed}\n".encode() + sentence.strip()).digest()
    return int.from_bytes(digest[:8], "big") % folds.of


def labelled_place(labelled: Labelled, files: Mapping[str, Path]) -> str:
    """The files' names in messages."""
    sides = labelled.texts.values()
    return " and ".join(describe(files[side.source], side.member) for side in sides)


def known_labels(pairs: Iterator[Pair], labels: Collection[str], place: str) -> Iterator[Pair]:
    """The pairs, unchanged. Raises DataError for a target that is not one of the labels."""
    for number, (source, target) in enumerate(pairs, start=1):
        label = target.decode("utf-8", "replace").strip()
        if label not in labels:
            raise DataError(
                f"{place}, line {number}: the label {label[:60]!r} is not one of "
                f"{', '.join(labels)}. Correct the line, or add the label to text.labels."
            )
        yield source, target


def require_all(labels: Collection[str], found: Collection[str]) -> None:
    """Raises DataError if a label has no training sentence."""
    for label in labels:
        if label not in found:
            raise DataError(
                f"no training sentence has the label {label!r}; found: "
                f"{', '.join(found) or 'none'}. Add some, or remove the label from text.labels."
            )
