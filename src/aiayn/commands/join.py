"""`aiayn join`: adds the runs that another clone of the project has trained to a scale's folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiayn import config
from aiayn.commands.repro.dvc_commands import commit
from aiayn.commands.verification.digests import Digests
from aiayn.config.dvc_yaml import DVC_YAML
from aiayn.errors import ConfigError, DataError
from aiayn.files import replaced_folder, write_atomically
from aiayn.results import paths
from aiayn.results.lock import ENTRY, Entry, Lock, is_code


@dataclass(frozen=True)
class Joined:
    """Names of the stages whose outputs were copied, and of those that both folders had."""

    copied: list[str]
    in_both: list[str]


def join(here: Path, other: Path) -> Joined:
    """Copy the results that only another folder of the same scale has, and record them in dvc.lock
    and DVC's cache, so that their stages do not run again.

    Copied are the stages of tasks and runs, and profiles. Stages that read the results of all runs
    (compare, report, track, illustrate) are left to `aiayn repro`. Every output in either lock is
    hashed before anything is written, and every copy afterwards.

    Args:
        here: the folder of a scale, which gets the outputs. Nothing may be running in it.
        other: that scale's folder in another clone, with its weights; it is only read.
    Raises:
        ConfigError: `here` has no params.yaml, or is the other folder.
        DataError: a file differs from its lock; or the folders differ in dvc.yaml, in code or
            parameters of stages to be copied, or in an output that both have. Nothing was changed.
        GraphError: DVC could not put the copies into its cache.
    """
    if here.resolve() == other.resolve():
        raise ConfigError(f"{other} is the same folder. Name the scale's folder in another clone.")
    sides = _Sides(here, other)
    problems = [*sides.problems()]
    if problems:
        more = f" (and {len(problems) - 1} more)" if problems[1:] else ""
        raise DataError(f"{problems[0]}{more}. Nothing was joined.")
    for entry in sides.missing.values():
        for path in entry.outs:
            _copy(other / path, here / path)
    for metadata in _metadata(sides.missing):
        if (other / metadata).exists() and not (here / metadata).exists():
            _copy(other / metadata, here / metadata)
    copies = Digests(here)
    for entry in sides.missing.values():
        for path, md5 in entry.outs.items():
            for damage in copies.changes(Path(path), md5):
                raise DataError(f"{damage}, after it was copied. Check the disk, and join again.")
    if sides.missing:
        _append_entries(here / paths.LOCK, other / paths.LOCK, sides.missing)
        commit([*sides.missing], here)
    return Joined([*sides.missing], [*sides.in_both])


class _Sides:
    """The two folders; `missing` are the entries of the other's lock to add to this one's."""

    def __init__(self, here: Path, other: Path) -> None:
        self._here, self._other = here, other
        params = here / config.PARAMS
        if not params.is_file():
            raise ConfigError(f"{params}: there is no such file. Name the folder of a scale.")
        self._params = config.read_yaml(params.read_bytes())
        if not isinstance(self._params, dict) or not {"runs", "tasks"} <= self._params.keys():
            raise ConfigError(f"{params}: has no runs and tasks. Name the folder of a scale.")
        self._lock, self._other_lock = Lock(here / paths.LOCK), Lock(other / paths.LOCK)
        ours, theirs = self._lock.stages, self._other_lock.stages
        if not theirs:
            raise DataError(
                f"{other / paths.LOCK}: has no stages. Name the folder of a scale that has run."
            )
        for folder, lock in ((here, ours), (other, theirs)):
            for name, entry in lock.items():
                if not entry.is_complete:
                    raise DataError(
                        f"{folder / paths.LOCK}: truncated or damaged at {name}. "
                        "Wait until nothing is running there, or run aiayn repro there."
                    )
        self.in_both = {name: entry for name, entry in theirs.items() if name in ours}
        self.missing = {
            name: entry
            for name, entry in theirs.items()
            if name not in ours and ("@" in name or all(map(is_code, entry.deps)))
        }

    def problems(self) -> Iterator[str]:
        """Why the folders cannot be joined, as sentences without a full stop."""
        here, other = Digests(self._here), Digests(self._other)
        if here.of(DVC_YAML) != other.of(DVC_YAML):
            yield (
                f"{self._here / DVC_YAML} and {self._other / DVC_YAML} differ: check out the same "
                "commit in both clones"
            )
        for name, entry in self.in_both.items():
            if "@" in name:
                yield from self._conflicts(name, entry)
        for digests, entries in ((here, self._lock.stages), (other, self.missing)):
            for entry in entries.values():
                for path, md5 in entry.outs.items():
                    yield from digests.changes(Path(path), md5)
        for name, entry in self.missing.items():
            yield from self._differences(name, entry, here)

    def _conflicts(self, name: str, entry: Entry) -> Iterator[str]:
        """Outputs that differ between the folders."""
        ours = self._lock.stages[name].outs
        for path, md5 in entry.outs.items():
            if ours.get(path) != md5:
                yield f"{name}: {path} is in both folders, with different content"

    def _differences(self, name: str, entry: Entry, here: Digests) -> Iterator[str]:
        """Differences that would make a copied stage run again in this folder."""
        stage, _, item = name.partition("@")
        if item and item not in {*self._params["runs"], *self._params["tasks"]}:
            yield f"{name}: {self._here / config.PARAMS} has no {item}"
            return
        for key in self._other_lock.outdated(self._params, item or stage):
            yield f"{name}: the parameter {key} differs from {self._here / config.PARAMS}"
        for path, digest in entry.deps.items():
            if is_code(path) and here.of(Path(path)) != digest:
                yield f"{name}: it ran with another version of {self._here / path}"
            if not is_code(path) and (self._lock.out(path) or digest) != digest:
                yield f"{name}: it read another version of {self._here / path}"
        for path, md5 in entry.outs.items():
            if here.of(Path(path)) not in (None, md5):
                yield (
                    f"{self._here / path} would be overwritten, but is not in "
                    f"{self._here / paths.LOCK}: run aiayn repro {name}, or delete it"
                )


def _metadata(names: Iterable[str]) -> Iterator[Path]:
    """Where dates, machine and speed of these stages may be recorded: files that no lock has."""
    for item in dict.fromkeys(name.partition("@")[2] for name in names):
        if item:
            yield paths.training_metadata(item)
            yield paths.decoding_metadata(item)
    yield paths.LAYERS_METADATA


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        with replaced_folder(target) as new:
            shutil.copytree(source, new, dirs_exist_ok=True)
    else:
        write_atomically(target, source.read_bytes())


def _append_entries(lock: Path, other: Path, names: Mapping[str, Entry]) -> None:
    """Append these entries verbatim."""
    entries = {found[1]: found[0] for found in ENTRY.finditer(other.read_text(encoding="utf-8"))}
    before = lock.read_text(encoding="utf-8") if lock.exists() else "schema: '2.0'\nstages:\n"
    write_atomically(lock, before + "".join(entries[name] for name in names))
