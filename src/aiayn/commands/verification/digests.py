"""DVC's digests of files and folders, computed from their current content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from aiayn.results import paths

CACHE = Path(".dvc/cache/files/md5")


class Digests:
    """DVC's MD5 digests of files and folders below a root, each computed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        top = paths.project(root)
        self._cache = top / CACHE
        ignored = top / ".dvcignore"
        self._ignored = {*ignored.read_text(encoding="utf-8").split()} if ignored.exists() else {}
        self._digests: dict[Path, str | None] = {}

    def of(self, path: Path) -> str | None:
        """The digest of a file or folder; None if it does not exist."""
        if path not in self._digests:
            self._digests[path] = self._compute(self._root / path)
        return self._digests[path]

    def changes(self, path: Path, recorded: str | None) -> Iterator[str]:
        """A sentence for each file of an output that differs from the record; for the folder as a
        whole if DVC's cache lacks the recorded digests of its files."""
        lock = self._root / paths.LOCK
        output = self._root / path
        if self.of(path) == recorded:
            return
        if not output.exists():
            yield f"{output} is missing"
            return
        before = self._recorded_files(recorded) if recorded and output.is_dir() else {}
        if not before:
            yield f"{output} differs from {lock}"
            return
        now = self._files(output)
        for name in sorted({*before, *now}):
            if name not in now:
                yield f"{output / name} is missing"
            elif name not in before:
                yield f"{output / name} is not in {lock}"
            elif now[name] != before[name]:
                yield f"{output / name} differs from {lock}"

    def _compute(self, path: Path) -> str | None:
        if path.is_dir():
            listing = [{"md5": md5, "relpath": name} for name, md5 in self._files(path).items()]
            text = json.dumps(sorted(listing, key=lambda one: one["relpath"]), sort_keys=True)
            return hashlib.md5(text.encode()).hexdigest() + ".dir"
        return _md5(path) if path.exists() else None

    def _files(self, folder: Path) -> dict[str, str]:
        return {
            file.relative_to(folder).as_posix(): _md5(file)
            for file in folder.rglob("*")
            if file.is_file() and not {*file.relative_to(folder).parts} & {*self._ignored}
        }

    def _recorded_files(self, digest: str) -> dict[str, str]:
        listing = self._cache / digest[:2] / digest[2:]
        if not listing.exists() or _md5(listing) != digest.removesuffix(".dir"):
            return {}
        return {one["relpath"]: one["md5"] for one in json.loads(listing.read_bytes())}


def _md5(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "md5").hexdigest()
