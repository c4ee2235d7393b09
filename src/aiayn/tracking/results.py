"""What a run left on disk, read for mirroring: history, scores, circumstances, manifest."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from aiayn.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Results:
    """A run's files. Mappings of what does not exist yet are empty.

    `history` holds a mapping of column to value for each step that was recorded.
    """

    fingerprint: str
    history: tuple[Mapping[str, float], ...]
    scores: Mapping[str, Any]
    training: Mapping[str, Any]
    decoding: Mapping[str, Any]
    manifest: Mapping[str, Any]

    @property
    def stage(self) -> str:
        """The last stage that this run went through."""
        return "score" if self.scores else "decode" if self.decoding else "train"

    @property
    def started_ms(self) -> int | None:
        """When training began, in Unix milliseconds, if that was recorded."""
        try:
            return int(datetime.fromisoformat(str(self.training["started"])).timestamp() * 1000)
        except (KeyError, ValueError):
            return None

    @property
    def ended_ms(self) -> int | None:
        """When training ended, in Unix milliseconds, as far as start and duration tell."""
        seconds = self.training.get("seconds")
        if self.started_ms is None or not isinstance(seconds, int | float):
            return None
        return self.started_ms + int(seconds * 1000)


def read(root: Path, run: str, task: str) -> Results | None:
    """The results of `run` below `root`; None if it was not trained yet.

    Raises:
        DataError: a file is damaged.
    """
    path = root / "history" / f"{run}.csv"
    if not path.exists():
        return None
    training = read_json(root / "circumstances" / f"{run}.train.json")
    # without its circumstances a run is still known by the course that its training took
    fingerprint = training.get("fingerprint") or sha256(path.read_bytes()).hexdigest()
    return Results(
        fingerprint=str(fingerprint),
        history=_history(path),
        scores=read_json(root / "scores" / f"{run}.json"),
        training=training,
        decoding=read_json(root / "circumstances" / f"{run}.decode.json"),
        manifest=read_json(root / "data" / "text" / task / "manifest.json"),
    )


def _history(path: Path) -> tuple[Mapping[str, float], ...]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = tuple(
                {column: float(text) for column, text in row.items() if text}
                for row in csv.DictReader(lines, strict=True)
            )
    except (ValueError, TypeError, AttributeError, csv.Error) as error:
        raise DataError(f"{path}: not a training history ({error}). Run dvc repro.") from error
    if any("step" not in row for row in rows):
        raise DataError(f"{path}: a line has no step. Run dvc repro.")
    return rows


def read_json(path: Path) -> dict[str, Any]:
    """The object in `path`, or an empty one where there is no such file.

    Raises:
        DataError: the file holds something else.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error}). Run dvc repro.") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: not a JSON object. Run dvc repro.")
    return content
