"""What came of an export, and of trying the engine on sentences that were translated here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aiayn.commands.export.search import EngineSearch
from aiayn.config import Decoding
from aiayn.results.circumstances import TrainCircumstances
from aiayn.results.scores import Score
from aiayn.results.text import Manifest


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The engine's hypotheses for a split beside ours: `same` of `sentences` are equal."""

    split: str
    sentences: int
    same: int
    ours: Mapping[str, Score]
    theirs: Mapping[str, Score]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """All that a model card tells: `decoding` is the run's own search, `search` the engine's."""

    run: str
    engine: str
    version: str
    folder: Path
    manifest: Manifest
    weights: str
    trained: TrainCircumstances | None
    decoding: Decoding
    search: EngineSearch
    trial: Trial
