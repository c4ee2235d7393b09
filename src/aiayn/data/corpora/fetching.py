"""Files of the catalogue, fetched once and verified against their checksum before every use."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import IO
from urllib.parse import urlsplit

from aiayn.config import Download
from aiayn.data.corpora.meter import Meter
from aiayn.data.corpora.transfer import StoppedError, size_at, transfer
from aiayn.errors import DataError
from aiayn.files import free_bytes

PARALLEL_DOWNLOADS = 4
POLL_SECONDS = 0.5
USABLE_DISK = 0.9  # of the free space, for a file of unknown size
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # some cluster file systems


@dataclass(frozen=True)
class Source:
    """The source of a download: fetched from `url` to `path`, or already at `path` if `url` is
    None. `advice` is for the error if its checksum differs from the catalogue's.
    """

    download: Download
    path: Path
    url: str | None
    advice: str

    @property
    def partial(self) -> Path:
        """The partial download, which is kept when the process ends, and resumed."""
        return self.path.with_name(f".{self.path.name}.partial")

    @property
    def arrived(self) -> int:
        """The size of the file or of its partial download, in bytes."""
        for path in (self.path, self.partial):
            with suppress(FileNotFoundError):
                return path.stat().st_size
        return 0


def fetch(
    downloads: Mapping[str, Download],
    raw: Path,
    mirror: str | None = None,
    progress: Path | None = None,
) -> dict[str, Path]:
    """A local path for each of the downloads, their checksums verified.

    A mirror that is a folder is read in place, without a copy. Otherwise files are kept at
    raw/HOST/PATH, and missing ones are fetched in parallel; partial downloads are kept and resumed.
    Processes that need the same file wait for each other. A kept file that has become damaged is
    never replaced silently: the error asks the user to delete it. If one download fails, the others
    continue, except on a full disk.

    Args:
        downloads: URL and checksum by name, from the catalogue.
        raw: folder of verified downloads.
        mirror: folder or base URL laid out as HOST/PATH; None or "" for the real hosts.
        progress: a file for the progress, written while fetching.
    Raises:
        DataError: a file cannot be fetched, its checksum or size differs from the catalogue's, or
            the disk has too little space.
    """
    sources = {name: source(download, raw, mirror) for name, download in downloads.items()}
    sizes = pending(sources.values())
    _require_space(sizes, raw)
    known = [size or 0 for _, size in sizes]
    announced = {one: size for one, size in sizes if size is not None}
    stop = Event()
    with ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool, Meter(progress) as meter:
        jobs = {
            name: pool.submit(_fetch_one, found, announced.get(found), stop)
            for name, found in sources.items()
        }
        try:
            while wait(jobs.values(), POLL_SECONDS).not_done:
                if sizes:
                    arrived = [one.arrived for one, _ in sizes]
                    meter.show(
                        files=sum(one.path.is_file() for one, _ in sizes),
                        files_in_all=len(sizes),
                        here=sum(arrived),
                        in_all=sum(max(*both) for both in zip(arrived, known, strict=True)),
                    )
        except BaseException:
            stop.set()
            raise
    failures = [failure for job in jobs.values() if (failure := job.exception()) is not None]
    if others := [f for f in failures if not isinstance(f, DataError | StoppedError)]:
        raise others[0]
    if errors := dict.fromkeys(str(f) for f in failures if isinstance(f, DataError)):
        raise DataError(" ".join(errors))
    return {name: job.result() for name, job in jobs.items()}


def source(download: Download, raw: Path, mirror: str | None = None) -> Source:
    """The source from which `fetch` gets a file; arguments as there. Raises DataError if a mirror
    folder lacks it."""
    relative = download.path
    kept = raw / relative
    remote = bool(mirror) and urlsplit(mirror).scheme in ("http", "https")
    if mirror and not remote:
        folder = Path(mirror)
        if not folder.is_dir():
            raise DataError(f"{mirror}: no such folder. It is the mirror in AIAYN_MIRROR.")
        if (folder / relative).is_file():
            advice = "Correct the mirror, or unset AIAYN_MIRROR."
            return Source(download, folder / relative, None, advice)
        if not kept.is_file():
            raise DataError(
                f"{folder / relative}: not in the mirror. "
                f"Put it there, or unset AIAYN_MIRROR to fetch {download.url}."
            )
    if kept.is_file():
        advice = "The file is damaged: delete it, and it will be fetched again."
        return Source(download, kept, None, advice)
    return Source(
        download,
        kept,
        f"{str(mirror).rstrip('/')}/{relative}" if remote else download.url,
        "The host serves another version, or the transfer was damaged: try again, "
        "or correct the checksum in conf/catalogue if you trust the new file.",
    )


def pending(sources: Iterable[Source]) -> list[tuple[Source, int | None]]:
    """The sources to fetch, each with its size according to the catalogue or else to the host."""
    sizes = []
    for one in sources:
        if one.url is not None:
            size = one.download.bytes
            if size is None:
                with suppress(DataError):  # the download itself will report the error
                    size = size_at(one.url)
            sizes.append((one, size))
    return sizes


def _require_space(sizes: Iterable[tuple[Source, int | None]], raw: Path) -> None:
    """Raises DataError if the disk has less space than the known sizes add up to."""
    needed = sum(max(size - one.arrived, 0) for one, size in sizes if size is not None)
    if not needed:
        return
    free = free_bytes(raw)
    if needed > free:
        raise DataError(
            f"{raw}: {needed:,} bytes are to be fetched, but only {free:,} are free. Free disk "
            "space, or set AIAYN_MIRROR to a folder that has the files: it is read in place."
        )


def _fetch_one(one: Source, announced: int | None, stop: Event) -> Path:
    if one.url is None:
        _verify(one.path, one, str(one.path))
        return one.path
    one.path.parent.mkdir(parents=True, exist_ok=True)
    while not one.path.is_file():
        with _locked(one.partial, stop) as file:
            if one.path.is_file():  # another process has fetched it
                _delete(file, one.partial)
            elif _is_same_file(file, one.partial):
                _download(one, one.url, file, announced, stop)
                return one.path
    _verify(one.path, one, str(one.path))
    return one.path


def _download(one: Source, url: str, file: IO[bytes], announced: int | None, stop: Event) -> None:
    """Fetch the missing part, verify the file, and only then rename it."""
    space = one.arrived + int(USABLE_DISK * free_bytes(one.partial.parent))
    most = min(space, announced or space)
    try:
        for is_last in (False, True):
            begun_at = transfer(url, file, one.download.bytes, stop, most)
            try:
                _verify(one.partial, one, url)
                break
            except DataError:
                file.truncate(0)
                # the parts may be of different versions: fetch the file again in one piece
                if begun_at == 0 or is_last:
                    raise
        os.fsync(file.fileno())
        one.partial.replace(one.path)
    except OSError as error:
        stop.set()
        if error.errno not in DISK_FULL:
            raise
        raise DataError(
            f"{one.partial.parent}: the disk is full. "
            "Free disk space and start again: the download will be resumed."
        ) from error


def _verify(path: Path, one: Source, shown_as: str) -> None:
    """Raises DataError unless the file has the declared checksum and, if declared, size."""
    download, advice = one.download, one.advice
    kind, _, expected = download.checksum.partition(":")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, kind).hexdigest()
    is_right = found == expected.lower()
    size = path.stat().st_size
    if download.bytes is not None and size != download.bytes:
        if is_right:
            advice = f"Its {kind} is right: correct `bytes` in conf/catalogue."
        mismatch = f"{size} bytes, the catalogue declares {download.bytes}"
    elif not is_right:
        mismatch = f"{kind} is {found}, the catalogue expects {expected}"
    else:
        return
    raise DataError(f"{shown_as}: {mismatch}. {advice}")


@contextmanager
def _locked(partial: Path, stop: Event) -> Iterator[IO[bytes]]:
    """Open a file to append and lock it, waiting for other processes. Deleted if empty."""
    with partial.open("ab", buffering=0) as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if stop.wait(POLL_SECONDS):
                    raise StoppedError from None
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                break
        try:
            yield file
        finally:
            if file.seek(0, os.SEEK_END) == 0:
                _delete(file, partial)


def _is_same_file(file: IO[bytes], path: Path) -> bool:
    """Whether the open file still has that path: it may have been renamed or deleted."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


def _delete(file: IO[bytes], partial: Path) -> None:
    if _is_same_file(file, partial):
        partial.unlink()
