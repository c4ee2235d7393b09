"""Reading the trees of a treebank from a local folder, or from a zip or tar archive."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO

from aiayn.config import Treebank
from aiayn.data.corpora.archives import (
    DAMAGE,
    LINE_BYTES,
    TAR_ENDINGS,
    StrictTarInfo,
    bounded,
    damaged,
    describe,
    lines,
    whole,
    zip_member,
)
from aiayn.data.trees.genia import read_genia
from aiayn.data.trees.reading import read_trees
from aiayn.data.trees.tree import Tree
from aiayn.errors import DataError

File = tuple[str, IO[bytes]]  # name in messages, and content


def treebank_trees(name: str, treebank: Treebank, files: Mapping[str, Path]) -> Iterator[Tree]:
    """Every tree of a treebank. Files are read in order of their names, or in the order of the
    treebank's division; `.xml` files are GENIA's, all others have bracketed trees.

    Args:
        name: of the corpus, for messages.
        treebank: the archive or folder, and its files.
        files: a local path for each download.
    Raises:
        DataError: the folder is not set or does not exist, no file matches a pattern, the division
            lists a missing file, or a file is damaged, not UTF-8 or contains anything but trees.
    """
    if treebank.download is None:
        opened = _unpacked(name, treebank)
    else:
        archive = files[treebank.download]
        listed = files[treebank.division] if treebank.division is not None else None
        is_tar = archive.name.endswith(TAR_ENDINGS)
        opened = (_tarred if is_tar else _zipped)(name, treebank, archive, listed)
    with closing(opened):
        for place, stream in opened:
            try:
                if place.endswith(".xml"):
                    yield from read_genia(whole(stream, place), place)
                else:
                    yield from read_trees(_text_lines(stream, place), place)
            except DAMAGE as error:
                raise damaged(place, error) from error


def _unpacked(name: str, treebank: Treebank) -> Generator[File, None, None]:
    variable = treebank.folder or ""
    expected = f"it must hold {', '.join(treebank.files)}"
    given = os.environ.get(variable)
    if not given:
        raise DataError(
            f"corpus {name}: the environment variable {variable} is not set. Set it to the folder "
            f"of your licensed copy; {expected}. Or remove its task from conf/."
        )
    folder = Path(given)
    if not folder.is_dir():
        raise DataError(f"corpus {name}: {folder}, from {variable}, is not a folder; {expected}.")
    paths = {
        str(p.relative_to(folder)): p for pattern in treebank.files for p in folder.glob(pattern)
    }
    for path in _matched(name, treebank, sorted(paths), str(folder)):
        with paths[path].open("rb") as file:
            yield str(paths[path]), file


def _zipped(
    name: str, treebank: Treebank, archive: Path, listed: Path | None
) -> Generator[File, None, None]:
    try:
        with zipfile.ZipFile(archive) as opened:
            members = _matched(name, treebank, sorted(opened.namelist()), str(archive))
            for member in _divided(name, members, listed):
                place = describe(archive, member)
                with zip_member(opened, member, place) as stream:
                    yield place, stream
    except DAMAGE as error:
        raise damaged(str(archive), error) from error


def _tarred(
    name: str, treebank: Treebank, archive: Path, listed: Path | None
) -> Generator[File, None, None]:
    """A tar has no index, so all matching files are read into memory."""
    contents: dict[str, bytes] = {}
    try:
        with tarfile.open(archive, tarinfo=StrictTarInfo) as opened:
            for entry in opened:
                stream = opened.extractfile(entry) if entry.isreg() else None
                if stream and any(_matches(entry.name, pattern) for pattern in treebank.files):
                    contents[entry.name] = whole(stream, describe(archive, entry.name))
    except DAMAGE as error:
        raise damaged(str(archive), error) from error
    members = _matched(name, treebank, sorted(contents), str(archive))
    for member in _divided(name, members, listed):
        yield describe(archive, member), io.BytesIO(contents[member])


def _text_lines(stream: IO[bytes], place: str) -> Iterator[str]:
    for number, line in enumerate(bounded(stream), start=1):
        if len(line) > LINE_BYTES:
            raise DataError(
                f"{place}, line {number}: longer than {LINE_BYTES} bytes. Replace the file."
            )
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{place}, line {number}: not UTF-8. Convert the file.") from error


def _divided(name: str, members: Iterable[str], listed: Path | None) -> list[str]:
    """The members that a division lists, in its order; all members without a division. Raises
    DataError if it lists a missing one."""
    if listed is None:
        return list(members)
    by_number = {PurePosixPath(member).stem.lstrip("0"): member for member in members}
    numbers = [line.decode("utf-8", "replace").strip() for line in lines(listed)]
    for number in numbers:
        if number.lstrip("0") not in by_number:
            raise DataError(
                f"corpus {name}: {listed} lists {number}, but the treebank has no such file. "
                "Replace the list or the treebank."
            )
    return [by_number[number.lstrip("0")] for number in numbers]


def _matched(name: str, treebank: Treebank, names: list[str], place: str) -> list[str]:
    """The names that match a pattern. Raises DataError for a pattern that matches none."""
    for pattern in treebank.files:
        if not any(_matches(path, pattern) for path in names):
            raise DataError(
                f"corpus {name}: no file {pattern} in {place}. "
                f"Each of these patterns must match a file: {', '.join(treebank.files)}."
            )
    return [n for n in names if any(_matches(n, pattern) for pattern in treebank.files)]


def _matches(path: str, pattern: str) -> bool:
    """Whether a glob pattern matches, where * does not match a /."""
    parts, patterns = path.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))
