"""Writing so that a reader sees the old file or the new one, never half of either."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# of Linux's renameat2(2)
AT_FDCWD, RENAME_EXCHANGE = -100, 2
NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)  # an old kernel, another file system
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace `path` with `content` (text as UTF-8), making its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with _where(path), partial.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _where(path: Path) -> Iterator[None]:
    """Give the error of a write for which there is no room the place, of which it knows nothing."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """A new folder to write into, put in the place of `path` if the block ends well.

    Where the system can exchange two folders, `path` exists at every moment. Elsewhere it lacks for
    one: a process that is killed there leaves the former folder beside it, and the next call puts
    that back before anything else.

    Where `path` is a link, to another disk say, it stays, and what it leads to is replaced.
    """
    if path.is_symlink():
        path = _led_to(path)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    partial = path.with_name(f".{path.name}.partial")
    former = path.with_name(f".{path.name}.former")
    if former.exists() and not path.exists():
        former.replace(path)
    shutil.rmtree(former, ignore_errors=True)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with _where(path):
            yield partial
        if not path.exists():
            partial.replace(path)
        elif not _exchange(partial, path):
            path.replace(former)
            partial.replace(path)
            shutil.rmtree(former, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _led_to(link: Path) -> Path:
    """What a link leads to, be it there or not yet. Raises OSError if it leads to itself."""
    try:
        return link.resolve()
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(link)) from error


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders take each other's place in a single step; False where that cannot be done."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux
        return False
    places = (AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other))
    if rename(*places, ctypes.c_uint(RENAME_EXCHANGE)) == 0:
        return True
    number = ctypes.get_errno()
    if number in NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))


def free_bytes(folder: Path) -> int:
    """Of the disk that holds a folder, or would once it is made."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return shutil.disk_usage(there).free
