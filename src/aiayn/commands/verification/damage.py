"""Files that differ from dvc.lock, and outdated stages, found by hashing every file.

DVC itself would trust the size and modification time of a file that it has hashed before, and would
create a lock in .dvc. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from aiayn import config
from aiayn.commands.verification.digests import Digests
from aiayn.config import dvc_yaml
from aiayn.results import paths
from aiayn.results.lock import Entry, Lock, is_code


def damage_here(here: Path, names: Collection[str]) -> tuple[str, ...]:
    """A sentence for each output of the given stages that was changed, deleted or added since they
    ran, and for each of these stages whose code, parameters or inputs have changed since.

    Args:
        here: a scale's folder.
        names: runs, tasks, and stages without either.
    Raises:
        ConfigError, DataError: dvc.yaml, params.yaml or dvc.lock cannot be read.
    """
    file = here / paths.LOCK
    if not file.exists():
        return (f"{file} is missing",)
    lock, digests = Lock(file), Digests(here)
    params = config.read_yaml((here / config.PARAMS).read_bytes())
    produced = {path: md5 for entry in lock.stages.values() for path, md5 in entry.outs.items()}
    found: list[str] = []
    for stage in dvc_yaml.stages(params, here / dvc_yaml.DVC_YAML):
        name, item = stage.name, stage.item or stage.kind
        if item not in names:
            continue
        entry = lock.stages.get(name)
        if entry is None:
            found += [
                f"{file} has no {name}, but its output {path} exists"
                for path in stage.outputs
                if (here / path).exists()
            ]
        elif not entry.is_complete or len(entry.outs) < len(stage.outputs):
            found.append(f"{file} is truncated or damaged at {name}")
        else:
            for path, md5 in entry.outs.items():
                found += digests.changes(Path(path), md5)
            if entry.command != stage.command:
                found.append(f"{name}: its command has changed since it ran")
            if changed := [
                *_changed_inputs(entry, digests, produced),
                *lock.outdated(params, item),
            ]:
                found.append(f"{name}: {', '.join(changed)} changed since it ran")
    return tuple(dict.fromkeys(found))


def damage_published(folder: Path) -> tuple[str, ...]:
    """A sentence for each file of a published reproduction that differs from its dvc.lock.

    Not checked: run metadata, which dvc.lock does not record; the report, which is rendered again
    whenever its code changes; and manifests of text, for which dvc.lock has only the digest of the
    whole text.

    Raises:
        DataError: dvc.lock cannot be read.
    """
    file = folder / paths.LOCK
    if not file.exists():
        return (f"{file} is missing",)
    lock, digests = Lock(file), Digests(folder)
    found: list[str] = []
    recorded: list[Path] = []
    for name, entry in lock.stages.items():
        if not entry.is_complete:
            found.append(f"{file} is truncated or damaged at {name}")
            continue
        for path, md5 in ((Path(out), md5) for out, md5 in entry.outs.items()):
            if path.parts[0] in map(str, paths.RECORDED):
                recorded.append(path)
                found += digests.changes(path, md5)
    for top in paths.RECORDED:
        for each in sorted((folder / top).rglob("*")):
            path = each.relative_to(folder)
            if each.is_file() and not {path, *path.parents} & {*recorded}:
                found.append(f"{each} is not in {file}")
    params = config.read_yaml((folder / config.PARAMS).read_bytes())
    changed = lock.outdated(params, *params["runs"], *params["tasks"])
    found += [f"{folder / config.PARAMS}: {key} differs from {file}" for key in changed]
    return tuple(found)


def _changed_inputs(
    entry: Entry, digests: Digests, produced: Mapping[str, str | None]
) -> Iterator[str]:
    """Code that has changed, and data for which its stage has recorded another digest."""
    for path, before in entry.deps.items():
        now = digests.of(Path(path)) if is_code(path) else produced.get(path, before)
        if now != before:
            yield str(Path(path))
