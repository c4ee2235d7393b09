"""What stages read and wrote, as entities of an RO-Crate: files here, or by their digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiayn.records import places

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

FORMATS = {
    ".csv": "text/csv", ".gz": "application/gzip", ".html": "text/html",
    ".json": "application/json", ".lock": "application/yaml", ".md": "text/markdown",
    ".tar": "application/x-tar", ".tgz": "application/gzip", ".yaml": "application/yaml",
    ".zip": "application/zip",
}  # fmt: skip


class Materials:
    """The entities of one folder's crate, each made once, by path and digest."""

    def __init__(self, crate: ROCrate, folder: Path) -> None:
        self._crate = crate
        self._folder = folder
        self._made: dict[tuple[str, str], str] = {}

    def of(self, locked: Mapping[str, Any]) -> str:
        """Id of a dep or an out of dvc.lock: the file or folder here, if it is just that."""
        path, md5 = str(locked["path"]), str(locked.get("md5", ""))
        if (path, md5) not in self._made:
            here = self._folder / path
            if here.is_file() and hashlib.md5(here.read_bytes()).hexdigest() == md5:
                self._made[path, md5] = self.file(path)
            elif here.is_dir() and folder_md5(here) == md5:
                self._made[path, md5] = self._dataset(path, md5)
            else:
                self._made[path, md5] = self._elsewhere(path, md5, locked)
        return self._made[path, md5]

    def file(self, path: str) -> str:
        """A file of the folder."""
        here = self._folder / path
        content = here.read_bytes()
        properties = {
            "name": path,
            "contentSize": str(len(content)),
            "sha256": hashlib.sha256(content).hexdigest(),
            "encodingFormat": FORMATS.get(here.suffix, "text/plain"),
        }
        return str(self._crate.add_file(here, path, properties=properties).id)

    def download(self, described: Mapping[str, Any], licence: str) -> str:
        """A file on the Web, as the catalogue has it."""
        url = str(described["url"])
        if self._crate.dereference(url) is None:
            how, _, digest = str(described["checksum"]).partition(":")
            properties: dict[str, Any] = {"name": Path(url).name, how: digest}
            properties["encodingFormat"] = FORMATS.get(Path(url).suffix, "text/plain")
            properties["license"] = reference(licence)
            if described.get("bytes"):
                properties["contentSize"] = str(described["bytes"])
            self._crate.add_file(url, properties=properties)
        return url

    def _dataset(self, path: str, md5: str) -> str:
        properties = {"name": path, "identifier": f"md5:{md5}"}
        return str(self._crate.add_dataset(self._folder / path, path, properties=properties).id)

    def _elsewhere(self, path: str, md5: str, locked: Mapping[str, Any]) -> str:
        identifier = f"#{path}@{md5[:12]}"
        properties: dict[str, Any] = {"name": path, "identifier": f"md5:{md5}"}
        if "size" in locked:
            properties["size"] = str(locked["size"])
        properties["description"] = (
            f"Not in this folder; {'weights are' if _is_weights(path) else 'it is'} made again by "
            "the action whose result this is. The digest is DVC's."
        )
        self._crate.add_jsonld({"@id": identifier, "@type": "CreativeWork", **properties})
        return identifier


def reference(identifier: str) -> dict[str, str]:
    """What stands for another entity."""
    return {"@id": identifier}


def folder_md5(folder: Path) -> str:
    """DVC's digest of a folder: of the list of its files with theirs."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listed = [
        {
            "md5": hashlib.md5(path.read_bytes()).hexdigest(),
            "relpath": path.relative_to(folder).as_posix(),
        }
        for path in files
    ]
    listed.sort(key=lambda entry: entry["relpath"])
    return hashlib.md5(json.dumps(listed, sort_keys=True).encode()).hexdigest() + ".dir"


def corpora_of(params: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], frozenset[str]]:
    """The catalogue's corpora that a task's text is made of, from the params of its download; and
    in which languages. As they were then, whatever the parameters' schema is now."""
    texts = (value for key, value in params.items() if key.endswith(".text"))
    text: Mapping[str, Any] = next(texts, {})
    corpora = (params.get("catalogue") or {}).get("corpora") or {}
    named = [*text.get("train", ()), text.get("dev"), *(text.get("tests") or {}).values()]
    languages = frozenset(str(text[side]) for side in places.SIDES if side in text)
    return [corpora[name] for name in dict.fromkeys(named) if name in corpora], languages


def downloads_of(
    params: Mapping[str, Any], corpora: Iterable[Mapping[str, Any]], languages: Container[str]
) -> Iterator[Mapping[str, Any]]:
    """The catalogue's downloads that corpora come from, each once."""
    downloads = (params.get("catalogue") or {}).get("downloads") or {}
    names = dict.fromkeys(name for corpus in corpora for name in _named(corpus, languages))
    return (downloads[name] for name in names if name in downloads)


def _named(corpus: Mapping[str, Any], languages: Container[str]) -> Iterator[str]:
    """Whatever a corpus calls its download or its division, however deep; of its sides, those in
    these languages."""
    for key, value in corpus.items():
        if key == "sides" and value:
            value = {language: side for language, side in value.items() if language in languages}
        if isinstance(value, Mapping):
            yield from _named(value, languages)
        elif key in ("download", "division") and value:
            yield str(value)


def _is_weights(path: str) -> bool:
    return path.startswith(f"{places.MODELS}/")
