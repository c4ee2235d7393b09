"""Streaming lines of text from downloads: tar, tgz, zip, gz, sgm and plain files, also nested.

Nothing is unpacked to disk: names of members are only compared, never opened as paths.
"""

from __future__ import annotations

import difflib
import gzip
import html
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Self

from aiayn.config import Side
from aiayn.errors import DataError

TAR_ENDINGS = (".tar", ".tgz", ".tar.gz")
ARCHIVE_ENDINGS = (*TAR_ENDINGS, ".zip")
BUFFER_BYTES = 1 << 20
# limits of a line and of a file that is read at once: a megabyte of gzip can expand to a gigabyte
LINE_BYTES = 1 << 20
FILE_BYTES = 1 << 28

_SEGMENT_TAG = re.compile(rb"<(/?)seg\b[^<>]*", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")


DAMAGE = (
    tarfile.TarError,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
    EOFError,
)
"""Exceptions raised when unpacking a damaged file."""


def describe(path: Path, member: str | None) -> str:
    """The name of a file or of an archive's member in messages."""
    return f"{path}, member {member}" if member else str(path)


def lines(path: Path, member: str | None = None) -> Iterator[bytes]:
    r"""The lines of a text, as bytes without their "\n"; only "\n" separates lines.

    The type depends on the file name: `.tar`, `.tgz`, `.tar.gz` and `.zip` are archives, from which
    `member` is read; `.gz` is decompressed (also inside an archive); `.sgm` gives its <seg> texts.
    All but `.sgm` (test sets of a few thousand sentences) are streamed in constant memory: a line
    of more than LINE_BYTES is truncated to LINE_BYTES + 1.

    Raises:
        DataError: the file is damaged or truncated, an `.sgm` is larger than FILE_BYTES, or the
            archive has no such member.
    """
    place = describe(path, member)
    try:
        with _open(path, member, place) as stream:
            if (member or path.name).removesuffix(".gz").endswith(".sgm"):
                yield from segments(whole(stream, place), place)
            else:
                yield from bounded(stream)
    except DAMAGE as error:
        raise damaged(place, error) from error


def lines_of(side: Side, path: Path) -> Iterator[bytes]:
    """The lines of a side of a corpus, whose download is at `path`: of its member and its column.

    Raises:
        DataError: as `lines` and `columns`.
    """
    read = lines(path, side.member)
    if side.column is None:
        return read
    return columns(read, side.column, describe(path, side.member))


def bounded(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a stream, without a byte order mark, each truncated to LINE_BYTES + 1."""
    # LINE_BYTES and a line end: if the end is missing, the line is longer
    read = iter(partial(stream.readline, LINE_BYTES + 2), b"")
    first = next(read, b"").removeprefix(BOM_UTF8)
    for line in chain([first] if first else [], read):
        if line.endswith(b"\n"):
            yield line[:-1]
            continue
        yield line[: LINE_BYTES + 1]
        while line and not line.endswith(b"\n"):
            line = stream.readline(BUFFER_BYTES)


def columns(lines: Iterable[bytes], column: int, place: str) -> Iterator[bytes]:
    """One column of tab-separated lines.

    Args:
        column: from 1.
        place: the file's name in messages.
    Raises:
        DataError: a line has fewer columns.
    """
    for number, line in enumerate(lines, start=1):
        cells = line.split(b"\t")
        if len(cells) < column:
            raise DataError(
                f"{place}, line {number}: has no column {column}; columns are separated by tabs. "
                "Replace the file, or correct `column` in conf/catalogue."
            )
        yield cells[column - 1]


def whole(stream: IO[bytes], place: str) -> bytes:
    """The content of a stream. Raises DataError if it has more than FILE_BYTES."""
    content = stream.read(FILE_BYTES + 1)
    if len(content) > FILE_BYTES:
        raise DataError(
            f"{place}: has more than {FILE_BYTES >> 20} MiB, the limit for a file that is read at "
            "once. Replace the file."
        )
    return content


def damaged(place: str, error: Exception) -> DataError:
    """The error for a file that cannot be unpacked."""
    reason = " ".join(str(error).split())
    return DataError(f"{place}: truncated or damaged ({reason}). Replace it with an intact copy.")


class StrictTarInfo(tarfile.TarInfo):
    """A member of a tar archive. tarfile itself takes a damaged header for the archive's end."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        """The next member. Raises ReadError for a damaged header."""
        try:
            return super().fromtarfile(archive)
        except tarfile.HeaderError as error:
            if type(error).__name__ in ("EOFHeaderError", "EmptyHeaderError"):  # the actual end
                raise
            raise tarfile.ReadError(f"{error} at byte {archive.offset}") from error


def segments(sgm: bytes, place: str) -> Iterator[bytes]:
    """The <seg> texts of an SGML test set, with entities resolved and white space collapsed.

    Raises:
        DataError: a <seg> is not closed.
    """
    found: list[bytes] = []
    opened, begin = 0, None
    for tag in _SEGMENT_TAG.finditer(sgm):
        if not tag[1]:
            opened += 1
            begin = tag.end() + 1 if begin is None else begin
        elif begin is not None:
            found.append(sgm[begin : tag.start()])
            begin = None
    if len(found) != opened:
        raise DataError(
            f"{place}: {opened} <seg> are opened, {len(found)} closed. Correct the file."
        )
    for segment in found:
        # invalid UTF-8 passes through: the caller decides whether it is an error
        text = segment.decode("utf-8", "surrogateescape")
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
        yield re.sub(r"[ \t\r\n]+", " ", text).encode("utf-8", "surrogateescape")


@contextmanager
def _open(path: Path, member: str | None, place: str) -> Iterator[IO[bytes]]:
    is_archive = path.name.endswith(ARCHIVE_ENDINGS)
    if is_archive and member is None:
        raise DataError(f"{path}: is an archive; set the member to read in conf/catalogue.")
    if member is not None and not is_archive:
        endings = ", ".join(ARCHIVE_ENDINGS)
        raise DataError(f"{place}: not an archive ({endings}), so it has no members.")
    with ExitStack() as stack:
        stream: IO[bytes]
        archive = None
        if member is None:
            stream = stack.enter_context(path.open("rb", buffering=BUFFER_BYTES))
        elif path.name.endswith(".zip"):
            zipped = stack.enter_context(zipfile.ZipFile(path))
            stream = stack.enter_context(zip_member(zipped, member, place))
        else:
            archive = stack.enter_context(
                tarfile.open(path, "r|*", bufsize=BUFFER_BYTES, tarinfo=StrictTarInfo)
            )
            stream = _member(archive, member, place)
        if (member or path.name).endswith(".gz"):
            unzipped = stack.enter_context(gzip.GzipFile(fileobj=stream))
            stream = io.BufferedReader(unzipped, BUFFER_BYTES)
        yield stream
        if archive is not None and member is not None:
            _refuse_second(archive, member, place)


def _member(archive: tarfile.TarFile, member: str, place: str) -> IO[bytes]:
    names = []
    for entry in archive:
        name = entry.name.removeprefix("./")
        names.append(name)
        if name == member.removeprefix("./"):
            stream = archive.extractfile(entry) if entry.isreg() else None
            if stream is None:
                raise DataError(f"{place}: not a regular file. Set another in conf/catalogue.")
            return stream
    raise _no_member(member, names, place)


def _refuse_second(archive: tarfile.TarFile, member: str, place: str) -> None:
    """Raises DataError if a member occurs again: tar itself would unpack the last one."""
    while (entry := archive.next()) is not None:
        if entry.name.removeprefix("./") == member.removeprefix("./"):
            raise DataError(f"{place}: is in the archive twice. Replace the archive.")


def zip_member(archive: zipfile.ZipFile, member: str, place: str) -> IO[bytes]:
    """A stream of a zip's member, to be closed.

    Raises:
        DataError: there is no such member, it is encrypted, or its compression is not supported.
    """
    try:
        return archive.open(member)
    except KeyError as error:
        raise _no_member(member, archive.namelist(), place) from error
    except RuntimeError as error:
        raise damaged(place, error) from error


def _no_member(member: str, names: Sequence[str], place: str) -> DataError:
    near = difflib.get_close_matches(member, names, n=1, cutoff=0)
    hint = f" The closest name is {near[0]}." if near else " The archive is empty."
    return DataError(f"{place}: no such member.{hint}")
