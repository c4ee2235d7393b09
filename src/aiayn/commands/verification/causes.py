"""Why a run's figures are not the published ones: what differs of all that decides its bytes.

By dvc.lock of both sides, which has of every stage its command, its parameters, the digests of its
code and of what it read and wrote; and by the circumstances, which have machine and versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.results import circumstances, places, scores
from aiayn.results.circumstances import TrainCircumstances
from aiayn.results.json_files import if_there
from aiayn.results.lock import Lock, is_code

OF_TASK = ("download", "train_bpe", "encode")
OF_RUN = ("train", "average", "decode", "score")
# of a training's circumstances, what can change its bytes
MACHINE = ("device", "precision", "matmul", "threads", "processes", "python")


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Something that differs, at the first stage that it reaches.

    `kind` is one of parameter, command, data, code, version, machine and unknown.
    """

    stage: str
    kind: str
    what: str


@dataclass(frozen=True, kw_only=True)
class RunCauses:
    """What of a run differs, in the order in which it goes into the bytes.

    `first_output` is the first with other bytes: None where there is none, or none that both locks
    have.
    """

    run: str
    causes: tuple[Cause, ...]
    first_output: str | None


def run_causes(runs: Iterable[str], published: Path, here: Path) -> Iterator[RunCauses]:
    """What differs of each run between there and here.

    Raises:
        DataError: a lock or a file of circumstances is not what it should be.
        ScoreError: the published scores are not what they should be.
    """
    locks = [Lock(root / places.LOCK) for root in (published, here)]
    for run in runs:
        task = scores.read(published / places.scores(run)).task
        theirs, ours = (_stages(lock, task, run) for lock in locks)
        yield _of_run(run, theirs, ours, [*_circumstances(run, published, here)])


def _of_run(
    run: str,
    theirs: Mapping[str, Mapping[str, Any]],
    ours: Mapping[str, Mapping[str, Any]],
    of_training: Iterable[Cause],
) -> RunCauses:
    causes: list[Cause] = []
    first: str | None = None
    for stage, entry in theirs.items():
        held = ours.get(stage)
        if held is None:
            continue
        found = [*_differences(stage, entry, held)]
        if stage == f"train@{run}":
            found += of_training
        changed = _changed(_outs(entry), _outs(held))
        if changed and first is None:
            first = changed[0]
            if not found and not causes:
                said = "the same command, parameters, code and input made other bytes"
                found = [Cause(stage=stage, kind="unknown", what=said)]
        causes += found
    return RunCauses(run=run, causes=tuple(causes), first_output=first)


def _stages(lock: Lock, task: str, run: str) -> dict[str, Mapping[str, Any]]:
    """What goes into a run, in the order of the graph."""
    held = lock.stages
    names = [*(f"{stage}@{task}" for stage in OF_TASK), *(f"{stage}@{run}" for stage in OF_RUN)]
    return {name: held[name] for name in names if name in held}


def _differences(stage: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[Cause]:
    for key, (there, here) in _unequal(_parameters(theirs), _parameters(ours)).items():
        yield Cause(stage=stage, kind="parameter", what=f"{key}: {there} -> {here}")
    if theirs.get("cmd") != ours.get("cmd"):
        what = f"{theirs.get('cmd')} -> {ours.get('cmd')}"
        yield Cause(stage=stage, kind="command", what=what)
    for path in _changed(_deps(theirs), _deps(ours)):
        if is_code(path):
            yield Cause(stage=stage, kind="code", what=f"{path} has other bytes")


def _circumstances(run: str, published: Path, here: Path) -> Iterator[Cause]:
    place = places.train_circumstances(run)
    sides = [if_there(circumstances.read_train, root / place) for root in (published, here)]
    if sides[0] is None or sides[1] is None:
        return
    stage = f"train@{run}"
    versions = [side.versions for side in sides if side]
    for name, (there, here_) in _unequal(*versions).items():
        yield Cause(stage=stage, kind="version", what=f"{name}: {there} -> {here_}")
    for name, (there, here_) in _unequal(*(_machine(side) for side in sides if side)).items():
        yield Cause(stage=stage, kind="machine", what=f"{name}: {there} -> {here_}")


def _machine(side: TrainCircumstances) -> dict[str, Any]:
    return {name: getattr(side, name) for name in MACHINE}


def _parameters(entry: Mapping[str, Any]) -> dict[str, Any]:
    """By dotted name, down to the single value."""
    flat: dict[str, Any] = {}

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                add(f"{prefix}.{key}" if prefix else str(key), item)
        else:
            flat[prefix] = value

    for listed in (entry.get("params") or {}).values():
        add("", listed)
    return flat


def _deps(entry: Mapping[str, Any]) -> dict[str, str]:
    return {dep["path"]: dep.get("md5", "") for dep in entry.get("deps") or ()}


def _outs(entry: Mapping[str, Any]) -> dict[str, str]:
    """Circumstances never are the same again."""
    return {
        out["path"]: out.get("md5", "")
        for out in entry.get("outs") or ()
        if not out["path"].startswith(f"{places.CIRCUMSTANCES}/")
    }


def _changed(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """Paths of both sides with other digests."""
    return [path for path in theirs if path in ours and theirs[path] != ours[path]]


def _unequal(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Both values of each key whose values differ; None for a key that a side lacks."""
    keys = dict.fromkeys((*theirs, *ours))
    return {
        key: (theirs.get(key), ours.get(key)) for key in keys if theirs.get(key) != ours.get(key)
    }
