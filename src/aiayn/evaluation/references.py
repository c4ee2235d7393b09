"""Reading the references of a split, verified by checksum, and the hypotheses for them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from aiayn.errors import DataError, ScoreError
from aiayn.results import paths
from aiayn.results.scores import TestSet
from aiayn.results.text import parse_lines, read_content, read_lines, read_manifest


@dataclass(frozen=True, kw_only=True)
class References:
    """A split's references; `test_set` identifies the sentences, `form` is as in the manifest."""

    path: Path
    sentences: tuple[str, ...]
    test_set: TestSet
    form: str


def read_references(folder: Path, split: str, side: str = "target") -> References:
    """`folder`/SPLIT.target, or another side, checked against the folder's manifest.

    Raises:
        DataError: a file is missing or damaged, the manifest does not list the split, or a checksum
            does not match.
    """
    path, manifest = paths.lines(folder, split, side), paths.manifest(folder)
    repair = f"Make the text again: dvc repro -f download@{folder.name}."
    text = read_manifest(manifest)
    described = text.splits.get(split)
    if described is None or side not in described.sha256:
        raise DataError(f"{manifest}: splits.{split}.sha256.{side} is missing. {repair}")
    content = read_content(path)
    if hashlib.sha256(content).hexdigest() != described.sha256[side]:
        raise DataError(f"{path}: is not the file that {manifest} describes. {repair}")
    return References(
        path=path,
        sentences=parse_lines(content, path),
        test_set=TestSet.of(described),
        form=text.form,
    )


def read_hypotheses(path: Path, references: References) -> tuple[str, ...]:
    """The hypotheses at `path`, one for each reference; some may be empty.

    Raises:
        DataError: the file is missing, empty or not UTF-8.
        ScoreError: the number of lines differs from that of the references.
    """
    sentences = read_lines(path)
    if len(sentences) != len(references.sentences):
        raise ScoreError(
            f"{path} has {len(sentences)} lines and {references.path} has "
            f"{len(references.sentences)}. Decode again: dvc repro -f decode@{path.parent.name}."
        )
    return sentences
