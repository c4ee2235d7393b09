"""Digests of files and folders, as DVC has them, of the bytes that are there now."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from aiayn.results import paths

CACHE = Path(".dvc/cache/files/md5")


class Digests:
    """MD5 digests of files and folders below a root, as DVC has them, each computed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        top = paths.project(root)
        self._cache = top / CACHE
        ignored = top / ".dvcignore"
        self._ignored = {*ignored.read_text(encoding="utf-8").split()} if ignored.exists() else {}
        self._digests: dict[Path, str | None] = {}

    def of(self, path: Path) -> str | None:
        """Of a file or folder; None if it does not exist."""
        if path not in self._digests:
            self._digests[path] = self._compute(self._root / path)
        return self._digests[path]

    def changes(self, path: Path, recorded: str) -> Iterator[str]:
        """A sentence for each file of an output that is not as recorded; for the whole folder where
        DVC's cache does not have the recorded digests of its files."""
        lock = self._root / paths.LOCK
        place = self._root / path
        if self.of(path) == recorded:
            return
        if not place.exists():
            yield f"{place} is missing"
            return
        before = self._recorded_files(recorded) if place.is_dir() else {}
        if not before:
            yield f"{place} is not as {lock} has it"
            return
        now = self._files(place)
        for name in sorted({*before, *now}):
            if name not in now:
                yield f"{place / name} is missing"
            elif name not in before:
                yield f"{place / name} is not in {lock}"
            elif now[name] != before[name]:
                yield f"{place / name} is not as {lock} has it"

    def _compute(self, place: Path) -> str | None:
        if place.is_dir():
            listing = [{"md5": md5, "relpath": name} for name, md5 in self._files(place).items()]
            text = json.dumps(sorted(listing, key=lambda one: one["relpath"]), sort_keys=True)
            return hashlib.md5(text.encode()).hexdigest() + ".dir"
        return _md5(place) if place.exists() else None

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
