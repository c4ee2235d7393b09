"""The metadata in a checkpoint: its run, model and step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from aiayn.errors import CheckpointError
from aiayn.results.json_files import JsonFile, plain
from aiayn.validation import Items, StrictModel

FORMAT = 1
AVERAGING = ("steps", "checkpoint_steps", "average")  # determine which checkpoints are averaged
MOST_POSITIONS = 1_000_000  # a table of learned positions has max_length rows


class Weights(StrictModel):
    """Metadata of a model's weights after `step` steps; an average has the `averaged_steps` of its
    checkpoints.

    `model` is the row of table 3 as in the parameters; `max_length` is that of the training
    recipe, which sets the number of learned positions.
    """

    run: str
    model: Mapping[str, Any]
    seed: int
    max_length: int = Field(gt=0, le=MOST_POSITIONS)
    step: int
    averaged_steps: Items[int] | None = None


def content(weights: Weights) -> str:
    """The metadata as JSON, as stored in the file."""
    return json.dumps(plain(weights), sort_keys=True)


def parse(text: str, path: Path) -> Weights:
    """The metadata of the file at `path`.

    Raises:
        CheckpointError: it is not the metadata of weights.
    """
    weights = JsonFile(Weights, file_error).parse(text, path)
    for column in AVERAGING:
        if column not in weights.model:
            raise file_error(path, f"model.{column} is missing.")
    return weights


def file_error(path: Path, what: str) -> CheckpointError:
    """The error for an unusable checkpoint."""
    return CheckpointError(f"{path}: {what} Delete it and train again.")
