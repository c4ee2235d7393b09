"""What stands beside weights, in the metadata of their file: of which model, after which steps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.errors import CheckpointError
from aiayn.results.json_files import parse_json, plain, shaped

FORMAT = 1
AVERAGING = ("steps", "checkpoint_steps", "average")  # what decides which weights an average has


@dataclass(frozen=True, kw_only=True)
class Weights:
    """A model's weights after `step` steps; `averaged_steps` are those of the checkpoints that an
    average was taken of.

    `model` is a row of table 3 as it stands in the parameters; `max_length` is the length of the
    longest training sentences, on which learned positions depend.
    """

    run: str
    model: Mapping[str, Any]
    seed: int
    max_length: int
    step: int
    averaged_steps: tuple[int, ...] | None = None


def content(weights: Weights) -> str:
    """As it stands in the file."""
    return json.dumps(plain(weights), sort_keys=True)


def parse(text: str, path: Path) -> Weights:
    """What stood in the file at `path`.

    Raises:
        CheckpointError: it is not the metadata of weights.
    """
    weights = shaped(Weights, parse_json(text, path, complaint), path, complaint)
    for column in AVERAGING:
        if column not in weights.model:
            raise complaint(path, f"model.{column} is missing.")
    return weights


def complaint(path: Path, what: str) -> CheckpointError:
    """The error of a file of weights that cannot be used."""
    return CheckpointError(f"{path}: {what} Delete it and train again.")
