"""Atomic writes: a reader sees the old file or folder or the new one, never a partial one."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# constants of Linux's renameat2(2)
AT_FDCWD, RENAME_EXCHANGE = -100, 2
NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)  # old kernel, other file system
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace `path` with `content` (text as UTF-8). Missing parent folders are created. A device
    or a pipe, like /dev/null, is written to: to replace it would break the system.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with _naming(path), partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add the file name to an out-of-space error, which has none."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_SPACE and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """A new folder to write into, which replaces `path` if the block succeeds.

    If the system can exchange two folders atomically, `path` exists at all times. Otherwise it is
    missing briefly: if the process is killed then, the old folder remains next to it, and the next
    call restores it first.

    If `path` is a symbolic link, to another disk say, its target is replaced and the link is kept.
    """
    if path.is_symlink():
        path = _resolved(path)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    partial = path.with_name(f".{path.name}.partial")
    old = path.with_name(f".{path.name}.former")
    if old.exists() and not path.exists():
        old.replace(path)
    shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with _naming(path):
            yield partial
        if not path.exists():
            partial.replace(path)
        elif not _exchange(partial, path):
            path.replace(old)
            partial.replace(path)
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _resolved(link: Path) -> Path:
    """The target of a link, whether or not it exists. Raises OSError for a loop."""
    try:
        return link.resolve()
    except RuntimeError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(link)) from error


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders atomically; False if the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux
        return False
    paths = (AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other))
    if rename(*paths, ctypes.c_uint(RENAME_EXCHANGE)) == 0:
        return True
    number = ctypes.get_errno()
    if number in NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))


def free_bytes(folder: Path) -> int:
    """Free space on the disk of a folder, which need not exist yet."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(existing).free
