"""Run metadata: time, host, speed and versions, which may differ between identical runs.

It is never a result, nor an input of one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from aiayn.errors import DataError
from aiayn.results import paths
from aiayn.results.json_files import JsonFile, file_error, leaves, plain, write_json
from aiayn.results.machine_metadata import MachineMetadata
from aiayn.validation import StrictModel


class TrainingMetadata(MachineMetadata):
    """Metadata of a training. Seconds include earlier, interrupted starts; tokens are target pieces
    without padding and validation; times are ISO 8601, in UTC. `peak_rss_bytes` is the peak host
    memory of the first process since the last start; `history_md5` is the digest of the training's
    history file. Old records lack these two."""

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
    """Metadata of the decoding of all of a run's splits."""

    sentences: int
    seconds: float
    sentences_per_second: float


class LayerTimes(StrictModel):
    """A layer on one sentence of n positions: best seconds and peak bytes, of the forward pass and
    of forward plus backward."""

    n: int
    forward_seconds: float
    forward_bytes: int
    training_seconds: float
    training_bytes: int


class ProfilingMetadata(MachineMetadata):
    """Metadata of table 1's layers at width d, by layer type and length (n32...)."""

    seconds: float
    threads: int
    d: int
    layers: Mapping[str, Mapping[str, LayerTimes]]


def write(path: Path, record: TrainingMetadata | DecodingMetadata | ProfilingMetadata) -> None:
    """Write a record."""
    write_json(path, record, indent=2, sort_keys=True)


def training_of(root: Path, run: str) -> TrainingMetadata | None:
    """The metadata of the training whose history is below `root`; None if there is none. Metadata
    of another training is ignored: DVC restores histories, but not metadata.

    Raises:
        DataError: the file is invalid.
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


def facts(record: TrainingMetadata | DecodingMetadata) -> Mapping[str, str]:
    """The values as text, by dotted key, in the order of the file."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in sorted(leaves(plain(record)))
    }


def _stage(path: Path) -> str:
    run, _, stage = path.stem.rpartition(".")
    return f"{stage}@{run}" if run else path.stem


_file_error = file_error(DataError, _stage)
read_train = JsonFile(TrainingMetadata, _file_error).read
read_decode = JsonFile(DecodingMetadata, _file_error).read
read_profile = JsonFile(ProfilingMetadata, _file_error).read
