"""What a run left on disk, read for mirroring: history, scores, circumstances, manifest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from aiayn.results import history, places, scores
from aiayn.results.circumstances import (
    DecodeCircumstances,
    TrainCircumstances,
    read_decode,
    read_train,
)
from aiayn.results.history import History
from aiayn.results.json_files import if_there
from aiayn.results.scores import RunScores
from aiayn.results.text import Manifest, read_manifest


@dataclass(frozen=True, kw_only=True)
class Results:
    """A run's files; None stands for what does not exist yet."""

    fingerprint: str
    history: History
    scores: RunScores | None
    training: TrainCircumstances | None
    decoding: DecodeCircumstances | None
    manifest: Manifest | None

    @property
    def stage(self) -> str:
        """The last stage that this run went through."""
        return "score" if self.scores else "decode" if self.decoding else "train"

    @property
    def started_ms(self) -> int | None:
        """When training began, in Unix milliseconds, if that was recorded."""
        if self.training is None:
            return None
        return int(datetime.fromisoformat(self.training.started).timestamp() * 1000)

    @property
    def ended_ms(self) -> int | None:
        """When training ended, in Unix milliseconds, as start and duration tell."""
        if self.training is None or self.started_ms is None:
            return None
        return self.started_ms + int(self.training.seconds * 1000)


def read(root: Path, run: str, task: str) -> Results | None:
    """The results of `run` below `root`; None if it was not trained yet.

    Raises:
        DataError, ScoreError: a file is damaged.
    """
    path = root / places.history(run)
    curve = if_there(history.read, path)
    if curve is None:
        return None
    training = if_there(read_train, root / places.train_circumstances(run))
    # without its circumstances a run is still known by the course that its training took
    fingerprint = training.fingerprint if training else sha256(path.read_bytes()).hexdigest()
    return Results(
        fingerprint=fingerprint,
        history=curve,
        scores=if_there(scores.read, root / places.scores(run)),
        training=training,
        decoding=if_there(read_decode, root / places.decode_circumstances(run)),
        manifest=if_there(read_manifest, places.manifest(root / places.text(task))),
    )
