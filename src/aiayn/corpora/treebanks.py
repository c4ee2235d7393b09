"""Trees out of a treebank's files: in a folder that the user has licensed, or in a zip archive."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from aiayn.config import Treebank
from aiayn.corpora.archives import describe
from aiayn.errors import DataError
from aiayn.trees.reading import read_trees
from aiayn.trees.tree import Tree


def treebank_trees(name: str, treebank: Treebank, files: Mapping[str, Path]) -> Iterator[Tree]:
    """Every tree of a treebank's files, which are read in order of their names, one at a time.

    Args:
        name: of the corpus, for messages.
        treebank: which files of which archive or folder.
        files: a local path for each download.
    Raises:
        DataError: the folder is not named or not there, no file matches a pattern, or a file is not
            UTF-8 or holds something else than trees.
    """
    if treebank.download is not None:
        yield from _zipped(name, treebank, files[treebank.download])
    else:
        yield from _unpacked(name, treebank)


def _unpacked(name: str, treebank: Treebank) -> Iterator[Tree]:
    variable = treebank.folder or ""
    expected = f"it must hold {', '.join(treebank.files)}"
    given = os.environ.get(variable)
    if not given:
        raise DataError(
            f"corpus {name}: the environment variable {variable} is not set. Set it to the folder "
            f"of your licensed copy; {expected}. Or leave its task out of conf/."
        )
    folder = Path(given)
    if not folder.is_dir():
        raise DataError(f"corpus {name}: {folder}, from {variable}, is no folder; {expected}.")
    paths = {
        str(p.relative_to(folder)): p for pattern in treebank.files for p in folder.glob(pattern)
    }
    for path in _matched(name, treebank, sorted(paths), str(folder)):
        with paths[path].open(encoding="utf-8") as file:
            yield from _trees(file, str(paths[path]))


def _zipped(name: str, treebank: Treebank, archive: Path) -> Iterator[Tree]:
    try:
        with zipfile.ZipFile(archive) as opened:
            for member in _matched(name, treebank, sorted(opened.namelist()), str(archive)):
                with opened.open(member) as stream:
                    text = io.TextIOWrapper(stream, encoding="utf-8")
                    yield from _trees(text, describe(archive, member))
    except zipfile.BadZipFile as error:
        raise DataError(f"{archive}: damaged ({error}). Replace it with an intact copy.") from error


def _trees(lines: io.TextIOBase, place: str) -> Iterator[Tree]:
    try:
        yield from read_trees(lines, place)
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 at byte {error.start}. Convert the file.") from error


def _matched(name: str, treebank: Treebank, names: list[str], place: str) -> list[str]:
    """The names that match a pattern. Raises DataError for a pattern that matches none."""
    for pattern in treebank.files:
        if not any(_matches(path, pattern) for path in names):
            raise DataError(
                f"corpus {name}: no file {pattern} in {place}. "
                f"There must be some for each of {', '.join(treebank.files)}."
            )
    return [n for n in names if any(_matches(n, pattern) for pattern in treebank.files)]


def _matches(path: str, pattern: str) -> bool:
    """As a folder's glob matches: * stays within a name."""
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))
