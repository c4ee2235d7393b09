"""Differences between two trainings of a run, among everything that determines their outputs.

dvc.lock has each stage's command, parameters and the digests of its code and outputs; the
training's metadata has its machine and versions.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from aiayn.results import metadata, paths
from aiayn.results.json_files import leaves
from aiayn.results.lock import Entry, Lock, is_code

TASK_STAGES = ("sources", "download", "train_bpe", "encode")
RUN_STAGES = ("train", "average", "decode", "score")
MACHINE = {
    "device": "device",
    "instruction_set": "instruction set",
    "precision": "number format",
    "matmul": "precision of float32 products",
    "threads": "threads",
    "processes": "processes",
    "python": "Python",
}

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

    @property
    def is_only_the_machine(self) -> bool:
        """Whether all that differs is the machine: hardware, versions, or parameters of it."""
        return bool(self.causes) and all(
            cause.kind in ("machine", "version")
            or (cause.kind == "parameter" and cause.what.startswith("machine."))
            for cause in self.causes
        )


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
            **{
                ("machine", words): value
                for name, words in MACHINE.items()
                if (value := getattr(trained, name)) is not None
            },
        }
    return facts


def _facts(entry: Entry) -> Facts:
    """Facts of a stage's entry in dvc.lock, without older locks' run metadata, which always
    differs."""
    facts: Facts = {("parameter", key): value for key, value in leaves(entry.params)}
    # ignore the relative path from a scale's folder to the project's, and quotes
    facts["command", ""] = _SCRIPT.sub("pipeline/", entry.command or "").replace("'", "")
    facts |= {("code", path): md5 for path, md5 in entry.deps.items() if is_code(path)}
    for path, md5 in entry.outs.items():
        if not path.startswith(f"{paths.METADATA}/"):
            facts["output", path] = md5
    return facts


def _changed(theirs: Facts, ours: Facts) -> dict[tuple[Kind, str], tuple[Any, Any]]:
    """Both values of each fact that differs. A parameter may be missing on one side, if both list
    parameters of its section."""
    sections = [{name.partition(".")[0] for _, name in facts} for facts in (theirs, ours)]
    return {
        key: (theirs.get(key), ours.get(key))
        for key in dict.fromkeys((*theirs, *ours))
        if theirs.get(key) != ours.get(key)
        and (
            all(key[1].partition(".")[0] in side for side in sections)
            if key[0] == "parameter"
            else key in theirs and key in ours
        )
    }


def _what(kind: Kind, name: str, published: Any, here: Any) -> str:
    if kind == "code":
        return f"{name} has other bytes"
    return f"{name}: {published} -> {here}" if name else f"{published} -> {here}"
