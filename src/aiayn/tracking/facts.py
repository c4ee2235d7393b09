"""What is worth knowing of a run, drawn from its files: tags to filter by, metrics to sort by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aiayn.results import places
from aiayn.results.host import UNKNOWN_COMMIT
from aiayn.results.json_files import plain
from aiayn.results.lock import Lock
from aiayn.tracking.names import RunIdentity
from aiayn.tracking.results import Results

_SETTINGS = frozenset({"processes", "threads"})  # numbers, but chosen rather than measured
_TOLD_ELSEWHERE = frozenset({"fingerprint", "started", "ended", "parameters"})


def tags_of(identity: RunIdentity, found: Results, lock: Lock) -> dict[str, str]:
    """Where the run stands, where it comes from, and which weights it made (by reference)."""
    tags = {
        "stage": found.stage,
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": "pipeline/train.py",
        "mlflow.note.content": (
            f"`{identity.task}` learned by `{identity.model}` at the scale `{identity.scale}`. "
            f"Recomputed by `dvc repro score@{identity.run}`."
        ),
    }
    tags |= {f"dvc.{k}": v for k, v in lock.digests(identity.run, identity.task).items()}
    for prefix, circumstances in (("", found.training), ("decode.", found.decoding)):
        tags |= _descriptions(plain(circumstances) if circumstances else {}, prefix)
    described = tags.get("commit", UNKNOWN_COMMIT)  # as git describe --dirty puts it
    if described != UNKNOWN_COMMIT:
        commit = described.removesuffix("-dirty")
        tags |= {"commit": commit, "mlflow.source.git.commit": commit}
        tags["dirty"] = "false" if commit == described else "true"
    # a run that is not tested has no average: what it was scored with is its last checkpoint
    folder = places.model(identity.run)
    for path in (places.averaged(folder).as_posix(), places.checkpoints(folder).as_posix()):
        digest = lock.out(path)
        if digest is not None:
            tags |= {"weights.path": path, "weights.md5": digest}
            break
    splits = found.scores.splits if found.scores else {}
    scored = splits.get(places.TEST) or splits.get(places.DEV)
    for metric, score in scored.scores.items() if scored else ():
        tags[f"signature.{metric}"] = score.signature
    return tags


def report_tags(lock: Lock) -> dict[str, str]:
    """Of the MLflow run that has the report: the lock digests of the stages that run once."""
    return {
        "stage": "report",
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": "pipeline/report.py",
        "mlflow.note.content": "The page, its tables and its figures. Recomputed by `dvc repro`.",
        **{f"dvc.{stage}": digest for stage, digest in lock.digests("").items()},
    }


def final_metrics(found: Results) -> Iterator[tuple[str, float]]:
    """Metrics that have one value a run: scores with their interval, and what was measured."""
    for split, scored in found.scores.splits.items() if found.scores else ():
        for metric, score in scored.scores.items():
            for suffix, number in (("", score.value), ("_low", score.low), ("_high", score.high)):
                if number is not None:
                    yield f"{split}/{metric}{suffix}", number
        for name, count in scored.counts.items():
            yield f"{split}/{name}", float(count)
    # the last of MLflow's groups, which go by name: scores come first
    for kind, circumstances in (("training", found.training), ("decoding", found.decoding)):
        for key, value in (plain(circumstances) if circumstances else {}).items():
            if isinstance(value, int | float) and key not in _SETTINGS | _TOLD_ELSEWHERE:
                yield f"work/{kind}_{key}", float(value)


def _descriptions(circumstances: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Circumstances in words, by dotted name: host, device, commit, versions.torch."""
    tags: dict[str, str] = {}
    for key, value in circumstances.items():
        if isinstance(value, Mapping):
            tags |= _descriptions(value, f"{prefix}{key}.")
        elif (isinstance(value, str) or key in _SETTINGS) and key not in _TOLD_ELSEWHERE:
            tags[f"{prefix}{key}"] = str(value)
    return tags
