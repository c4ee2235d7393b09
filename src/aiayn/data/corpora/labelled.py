"""Sentences and their labels: a text for each label, in folds, every label a known one."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from aiayn.config import Folds, Labelled
from aiayn.data.corpora.archives import describe, lines
from aiayn.errors import DataError

Pair = tuple[bytes, bytes]


def labelled_sentences(labelled: Labelled, files: Mapping[str, Path]) -> Iterator[Pair]:
    """Every sentence of the fold with its label, one label's after the other's.

    Args:
        files: a local path for each download.
    Raises:
        DataError: a file is damaged.
    """
    for label, side in labelled.texts.items():
        for sentence in lines(files[side.download], side.member):
            if labelled.folds is None or fold(sentence, labelled.folds) == labelled.folds.fold:
                yield sentence, label.encode()


def fold(sentence: bytes, folds: Folds) -> int:
    """In which of the folds a sentence is: a digest decides, the same on every machine."""
    digest = hashlib.sha256(f"{folds.seed}\n".encode() + sentence.strip()).digest()
    return int.from_bytes(digest[:8], "big") % folds.of


def labelled_place(labelled: Labelled, files: Mapping[str, Path]) -> str:
    """How messages name the files."""
    sides = labelled.texts.values()
    return " and ".join(describe(files[side.download], side.member) for side in sides)


def known_labels(pairs: Iterator[Pair], labels: Collection[str], place: str) -> Iterator[Pair]:
    """The pairs as they come. Raises DataError at a target that is none of the labels."""
    for number, (source, target) in enumerate(pairs, start=1):
        label = target.decode("utf-8", "replace").strip()
        if label not in labels:
            raise DataError(
                f"{place}, line {number}: the label {label[:60]!r} is none of {_listed(labels)}. "
                "Mend the line, or name the label in text.labels."
            )
        yield source, target


def require_all(labels: Collection[str], found: Collection[str]) -> None:
    """Raises DataError where no training sentence has one of the labels: none could learn it."""
    for label in labels:
        if label not in found:
            raise DataError(
                f"no training sentence is labelled {label!r}; found: {_listed(found) or 'none'}. "
                "Add some, or leave the label out of text.labels."
            )


def _listed(labels: Collection[str]) -> str:
    return ", ".join(labels)
