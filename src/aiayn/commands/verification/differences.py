"""Differences between two trainings of a run, among everything that determines their outputs.

dvc.lock has each stage's command, parameters and the digests of its code and outputs; the
training's metadata has its machine and versions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from aiayn.results import metadata, paths
from aiayn.results.json_files import leaves
from aiayn.results.lock import Lock, is_code

TASK_STAGES = ("download", "train_bpe", "encode")
RUN_STAGES = ("train", "average", "decode", "score")
MACHINE = ("device", "precision", "matmul", "threads", "processes", "python")

_SCRIPT = re.compile(r"(\.\.?/)+pipeline/")

Kind = Literal["parameter", "command", "code", "version", "machine", "output", "unknown"]
Facts = dict[tuple[Kind, str], Any]  # by kind and name


class Difference(BaseModel, frozen=True):
    """A difference, at the first stage that it affects."""

    stage: str
    kind: Kind
    what: str


class RunDifferences(BaseModel, frozen=True):
    """The differences of a run, in the order of the pipeline; `first_output` is the first output
    with different digests on both sides."""

    run: str
    causes: tuple[Difference, ...]
    first_output: str | None


def run_differences(run: str, task: str, published: Path, here: Path) -> RunDifferences:
    """The differences of a run between two folders.

    Raises:
        DataError: a dvc.lock or a file of metadata is damaged.
    """
    theirs, ours = (_facts_by_stage(root, run, task) for root in (published, here))
    causes: list[Difference] = []
    first_output = None
    for stage in (stage for stage in theirs if stage in ours):
        changed = _changed(theirs[stage], ours[stage])
        causes += [
            Difference(stage=stage, kind=kind, what=_what(kind, name, *values))
            for (kind, name), values in changed.items()
            if kind != "output"
        ]
        outputs = [name for kind, name in changed if kind == "output"]
        if outputs and first_output is None:
            first_output = outputs[0]
            if not causes:
                what = "the same command, parameters, code and input made other bytes"
                causes.append(Difference(stage=stage, kind="unknown", what=what))
    return RunDifferences(run=run, causes=tuple(causes), first_output=first_output)


def _facts_by_stage(root: Path, run: str, task: str) -> dict[str, Facts]:
    """Facts of the stages that a run depends on, in the order of the pipeline."""
    stages = Lock(root / paths.LOCK).stages
    names = [*(f"{stage}@{task}" for stage in TASK_STAGES), *(f"{s}@{run}" for s in RUN_STAGES)]
    facts = {name: _facts(stages[name]) for name in names if name in stages}
    trained = metadata.training_of(root, run)
    if trained and f"train@{run}" in facts:
        facts[f"train@{run}"] |= {
            **{("version", name): version for name, version in trained.versions.items()},
            **{("machine", name): getattr(trained, name) for name in MACHINE},
        }
    return facts


def _facts(entry: Mapping[str, Any]) -> Facts:
    """Facts of a stage's entry in dvc.lock, without older locks' run metadata, which always
    differs."""
    facts: Facts = {}
    for params in (entry.get("params") or {}).values():
        facts |= {("parameter", key): value for key, value in leaves(params)}
    # ignore the relative path from a scale's folder to the project's, and quotes
    facts["command", ""] = _SCRIPT.sub("pipeline/", entry.get("cmd") or "").replace("'", "")
    for dep in entry.get("deps") or ():
        if is_code(dep["path"]):
            facts["code", dep["path"]] = dep.get("md5")
    for out in entry.get("outs") or ():
        if not out["path"].startswith(f"{paths.METADATA}/"):
            facts["output", out["path"]] = out.get("md5")
    return facts


def _changed(theirs: Facts, ours: Facts) -> dict[tuple[Kind, str], tuple[Any, Any]]:
    """Both values of each fact that differs; a parameter may be missing on one side."""
    return {
        key: (theirs.get(key), ours.get(key))
        for key in dict.fromkeys((*theirs, *ours))
        if theirs.get(key) != ours.get(key)
        and (key[0] == "parameter" or (key in theirs and key in ours))
    }


def _what(kind: Kind, name: str, published: Any, here: Any) -> str:
    if kind == "code":
        return f"{name} has other bytes"
    return f"{name}: {published} -> {here}" if name else f"{published} -> {here}"
