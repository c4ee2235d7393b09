"""What is worth knowing of a run, drawn from its files: tags to filter by, metrics to sort by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aiayn.tracking.lock import Lock
from aiayn.tracking.names import RunIdentity
from aiayn.tracking.results import Results

_SETTINGS = frozenset({"processes", "threads"})  # numbers, but chosen rather than measured
_TOLD_ELSEWHERE = frozenset({"fingerprint", "started", "ended", "mlflow_run_id"})


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
    tags |= _descriptions(found.training, "")
    tags |= _descriptions(found.decoding, "decode.")
    described = tags.get("commit", "unknown")  # as git describe --dirty puts it
    if described != "unknown":
        commit = described.removesuffix("-dirty")
        tags |= {"commit": commit, "mlflow.source.git.commit": commit}
        tags["dirty"] = "false" if commit == described else "true"
    weights = f"models/{identity.run}/averaged.safetensors"
    digest = lock.out(weights)
    if digest is not None:
        tags |= {"weights.path": weights, "weights.md5": digest}
    for metric, score in found.scores.get("splits", {}).get("test", {}).items():
        if "signature" in score:
            tags[f"signature.{metric}"] = score["signature"]
    return tags


def final_metrics(found: Results) -> Iterator[tuple[str, float]]:
    """Metrics that have one value a run: scores with their interval, and what was measured."""
    for split, scores in found.scores.get("splits", {}).items():
        for metric, score in scores.items():
            for part, suffix in (("value", ""), ("low", "_low"), ("high", "_high")):
                if isinstance(score.get(part), int | float):
                    yield f"{split}/{metric}{suffix}", float(score[part])
    # not under train/, where the metrics of single steps are
    for group, circumstances in (("training", found.training), ("decoding", found.decoding)):
        for key, value in circumstances.items():
            if (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and key not in _SETTINGS
            ):
                yield f"{group}/{key}", float(value)


def _descriptions(circumstances: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Circumstances in words, by dotted name: host, device, commit, versions.torch."""
    tags: dict[str, str] = {}
    for key, value in circumstances.items():
        if isinstance(value, Mapping):
            tags |= _descriptions(value, f"{prefix}{key}.")
        elif (isinstance(value, str) or key in _SETTINGS) and key not in _TOLD_ELSEWHERE:
            tags[f"{prefix}{key}"] = str(value)
    return tags
