"""Copying a scale's results to a reproduction's folder, if they are from committed code and an
up-to-date graph."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

from aiayn import config
from aiayn.commands.publication.reproduction import Reproduction
from aiayn.commands.publication.reproduction_page import write_page
from aiayn.commands.publication.reproductions_table import write_table
from aiayn.commands.repro.dvc_commands import changed_stages
from aiayn.config import PARAMS, dvc_yaml, read_yaml
from aiayn.errors import ConfigError, GraphError
from aiayn.files import replaced_folder
from aiayn.results import paths
from aiayn.results.lock import ENTRY, Lock, is_code
from aiayn.results.machine_metadata import DIRTY, UNKNOWN_COMMIT
from aiayn.validation import NAME

SHOWN = 3  # names in a message


def publish(name: str, *, force: bool = False) -> Path:
    """Copy the results in the working directory, the folder of a scale, to reproductions/NAME,
    write its README.md, and render the table of all reproductions.

    Args:
        name: letters, digits, _, - and .
        force: even if code differs from the commit, or stages are not up to date.
    Returns:
        The reproduction's folder.
    Raises:
        ConfigError: the name is invalid.
        GraphError: code differs from the commit, or a stage is not up to date (unless forced); or a
            training's code was not committed.
        DataError, ScoreError: a result is damaged.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is not a valid name. Use letters, digits, _, - and ., with a letter or a "
            "digit first."
        )
    if not force:
        check_committed(paths.project())
        check_up_to_date()
    _check_trainings(Reproduction(Path(), name), Lock(paths.LOCK))
    reproductions = paths.project() / paths.REPRODUCTIONS
    folder = reproductions / name
    with replaced_folder(folder) as new:
        (new / paths.LOCK).write_text(_lock_of_graph(), encoding="utf-8")
        for path in filter(Path.exists, _published(Lock(new / paths.LOCK))):
            if path.is_dir():
                shutil.copytree(path, new / path)
            else:
                (new / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, new / path)
        write_page(new, name)
    write_table(reproductions)
    return folder


def _check_trainings(found: Reproduction, lock: Lock) -> None:
    """Raises GraphError if a training's code was not committed. If files differed from the commit,
    they were no code of the training if one at that very commit had the same code, by dvc.lock."""
    uncommitted, committed = {}, []
    for run, training in found.by_run.items():
        if training.commit == UNKNOWN_COMMIT or training.commit.endswith(DIRTY):
            uncommitted[run] = training.commit
        else:
            committed.append((training.commit, _code(lock, run)))
    for run, commit in uncommitted.items():
        code = _code(lock, run)
        if not code or (commit.removesuffix(DIRTY), code) not in committed:
            raise GraphError(
                f"A training ran at {commit}: its code was not committed, so it cannot be "
                "reproduced. Commit the code and train again."
            )


def _code(lock: Lock, run: str) -> dict[str, str | None]:
    """The digests of a training's code; empty if the lock has no such training."""
    entry = lock.stages.get(f"train@{run}")
    return {path: md5 for path, md5 in entry.deps.items() if is_code(path)} if entry else {}


def check_committed(top: Path) -> None:
    """Raises GraphError if the project's files, apart from results, differ from the commit."""
    files = [".", *(f":(exclude){name}" for name in paths.WRITTEN)]
    command = ["git", "status", "--porcelain", "--", *files]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GraphError(f"git: {' '.join(done.stderr.split())}. Publish from a clone.")
    if done.stdout:
        names = [line[3:] for line in done.stdout.splitlines()]
        raise GraphError(f"{_listed(names)} differ from the commit. Commit them, then publish.")


def check_up_to_date() -> None:
    """Raises GraphError if a stage of the scale in the working directory is outdated."""
    if changed := sorted(changed_stages()):
        raise GraphError(f"not up to date: {_listed(changed)}. Run make repro, then publish.")


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown


def _published(lock: Lock) -> Iterator[Path]:
    """Enough to continue elsewhere and to render the report; no weights, data or downloads, and
    nothing of runs that the graph no longer has."""
    params = config.load(PARAMS)
    yield from (PARAMS, paths.REPORTS, paths.LAYERS_METADATA)
    for run in params.runs:
        yield from (paths.training_metadata(run), paths.decoding_metadata(run))
    yield from (paths.manifest(paths.text(task)) for task in params.tasks)
    written = {Path(path) for entry in lock.stages.values() for path in entry.outs}
    yield from sorted(path for path in written if {path, *path.parents} & {*paths.RECORDED})


def _lock_of_graph() -> str:
    """dvc.lock without stages that no longer exist, which DVC keeps."""
    names = {stage.name for stage in dvc_yaml.stages(read_yaml(PARAMS.read_bytes()))}
    lock = paths.LOCK.read_text(encoding="utf-8")
    return ENTRY.sub(lambda entry: entry[0] if entry[1] in names else "", lock)
