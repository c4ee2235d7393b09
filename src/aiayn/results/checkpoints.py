"""The metadata in a file of weights: of which model they are, after which steps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from aiayn.errors import CheckpointError
from aiayn.results.json_files import parse_json, plain
from aiayn.validation import Items, StrictModel

FORMAT = 1
AVERAGING = ("steps", "checkpoint_steps", "average")  # what decides which weights an average has
MOST_POSITIONS = 1_000_000  # a table of positions has as many rows as the longest sentence pieces


class Weights(StrictModel):
    """A model's weights after `step` steps; `averaged_steps` are those of the checkpoints that an
    average was taken of.

    `model` is a row of table 3 as the parameters have it; `max_length` is the length of the longest
    training sentences, on which learned positions depend.
    """

    run: str
    model: Mapping[str, Any]
    seed: int
    max_length: int = Field(gt=0, le=MOST_POSITIONS)
    step: int
    averaged_steps: Items[int] | None = None


def content(weights: Weights) -> str:
    """As the file has it."""
    return json.dumps(plain(weights), sort_keys=True)


def parse(text: str, path: Path) -> Weights:
    """The metadata of the file at `path`.

    Raises:
        CheckpointError: it is not the metadata of weights.
    """
    weights = parse_json(Weights, text, path, file_error)
    for column in AVERAGING:
        if column not in weights.model:
            raise file_error(path, f"model.{column} is missing.")
    return weights


def file_error(path: Path, what: str) -> CheckpointError:
    """The error for a file of weights that cannot be used."""
    return CheckpointError(f"{path}: {what} Delete it and train again.")
