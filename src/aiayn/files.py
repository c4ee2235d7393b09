"""Writing so that a reader sees the old file or the new one, never half of either."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, content: bytes | str) -> None:
    """Replace `path` with `content` (text as UTF-8), making its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """A new folder to write into, put in the place of `path` if the block ends well."""
    partial = path.with_name(f".{path.name}.partial")
    former = path.with_name(f".{path.name}.former")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        if path.exists():
            shutil.rmtree(former, ignore_errors=True)
            path.replace(former)
        partial.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(former, ignore_errors=True)
