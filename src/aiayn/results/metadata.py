"""Run metadata: what may differ between two identical runs: when, where, how fast, with which
versions.

Nothing here is a result, and no result reads it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiayn.errors import DataError
from aiayn.results import paths
from aiayn.results.json_files import plain, read_json, write_json
from aiayn.results.machine_metadata import MachineMetadata
from aiayn.validation import StrictModel

FORMAT = 1


class TrainingMetadata(MachineMetadata):
    """Of a training. Seconds include those of earlier, interrupted starts; tokens are real target
    pieces, validation left out; times are ISO 8601, in UTC. `peak_rss_bytes` is the most memory
    that the first process held since the last start, a GPU's left out; `history_md5` is the digest
    of the training's history file. Old records lack these two."""

    fingerprint: str
    seconds: float
    validation_seconds: float
    tokens_per_second: int
    starts: int
    started: str
    ended: str
    processes: int
    threads: int
    precision: str
    matmul: str
    padding_share: float
    parameters: int
    peak_rss_bytes: int | None = None
    history_md5: str | None = None


class DecodingMetadata(StrictModel):
    """Of the decoding of all of a run's splits."""

    sentences: int
    seconds: float
    sentences_per_second: float


class LayerTimes(StrictModel):
    """A layer on one sentence of n positions: best seconds and peak bytes, of the forward pass and
    of forward and backward together."""

    n: int
    forward_seconds: float
    forward_bytes: int
    training_seconds: float
    training_bytes: int


class ProfilingMetadata(MachineMetadata):
    """Of table 1's layers at width d, by layer type and length (n32...)."""

    seconds: float
    threads: int
    d: int
    layers: Mapping[str, Mapping[str, LayerTimes]]


def write(path: Path, record: TrainingMetadata | DecodingMetadata | ProfilingMetadata) -> None:
    """Write a record."""
    write_json(path, record, indent=2, sort_keys=True)


def read_train(path: Path) -> TrainingMetadata:
    """Those of a training. Raises DataError: the file is missing, or is something else."""
    return read_json(TrainingMetadata, path, _file_error)


def training_of(root: Path, run: str) -> TrainingMetadata | None:
    """The metadata of the training whose history is below `root`; None if there is none, or only
    that of another training: DVC restores a history, and no metadata.

    Raises:
        DataError: the file is something else.
    """
    path, history = root / paths.training_metadata(run), root / paths.history(run)
    found = read_train(path) if path.exists() else None
    if found and found.history_md5 and history.exists():
        return found if found.history_md5 == md5(history.read_bytes()) else None
    return found


def md5(content: bytes | str) -> str:
    """The digest of a file's content, as DVC records it."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def read_decode(path: Path) -> DecodingMetadata:
    """Those of a decoding. Raises DataError: the file is missing, or is something else."""
    return read_json(DecodingMetadata, path, _file_error)


def read_profile(path: Path) -> ProfilingMetadata:
    """Those of table 1's layers. Raises DataError: the file is missing, or is something else."""
    return read_json(ProfilingMetadata, path, _file_error)


def facts(record: TrainingMetadata | DecodingMetadata) -> Mapping[str, str]:
    """As text by dotted name, in the order of the file."""
    return _flat(plain(record))


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in sorted(data.items()):
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value if isinstance(value, str) else json.dumps(value)
    return flat


def _file_error(path: Path, what: str) -> DataError:
    run, _, stage = path.stem.rpartition(".")
    target = f"{stage}@{run}" if run else path.stem
    return DataError(f"{path}: {what} Make it again: dvc repro -f {target}.")
