"""The stage compare's file, read back with types: what each variation of table 3 came to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiayn.errors import ScoreError
from aiayn.paper import EvaluationSet


@dataclass(frozen=True)
class OverSeeds:
    """A measure's mean over a model's seeds; `sd` is its standard deviation, None for one seed.

    `source` is where the two stand: FILE:KEY.KEY.
    """

    mean: float
    sd: float | None
    source: str


@dataclass(frozen=True)
class Seed:
    """One run of a variation; difference and p-value (against the base) are None for the base."""

    run: str
    difference: float | None
    p_value: float | None


@dataclass(frozen=True)
class Variation:
    """A model that learned the task of table 3: dev perplexity and BLEU over its seeds."""

    perplexity: OverSeeds
    bleu: OverSeeds
    seeds: Mapping[str, Seed]

    @property
    def run(self) -> str:
        """The first of its runs, whose provenance the page shows."""
        return next(iter(self.seeds.values())).run


@dataclass(frozen=True)
class Variations:
    """All variations by model, in the file's order; `base` is the model that they vary."""

    task: str
    base: str
    evaluation_set: EvaluationSet
    signature: str
    models: Mapping[str, Variation]


def read_variations(path: Path) -> Variations | None:
    """comparisons/table_3.json; None where it is missing.

    Raises:
        ScoreError: the file is not what the stage compare writes.
    """
    try:
        data = json.loads(path.read_bytes())
        base = str(data["base"])
        if base not in data["models"]:
            raise ValueError(f"no model {base}, the base")
        return Variations(
            task=str(data["task"]),
            base=base,
            evaluation_set=EvaluationSet(
                tuple(map(str, data["set"]["corpora"])), int(data["set"]["pairs"])
            ),
            signature=str(data["signature"]),
            models={
                name: _variation(entry, f"{path.name}:models.{name}")
                for name, entry in data["models"].items()
            },
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScoreError(
            f"{path}: not a comparison ({type(error).__name__}: {' '.join(str(error).split())}). "
            "Make it again: dvc repro -f compare."
        ) from error


def _variation(data: Mapping[str, Any], place: str) -> Variation:
    return Variation(
        perplexity=_over_seeds(data["perplexity"], f"{place}.perplexity"),
        bleu=_over_seeds(data["bleu"], f"{place}.bleu"),
        seeds={
            seed: Seed(
                str(entry["run"]), _optional(entry, "difference"), _optional(entry, "p_value")
            )
            for seed, entry in data["seeds"].items()
        },
    )


def _over_seeds(data: Mapping[str, Any], place: str) -> OverSeeds:
    return OverSeeds(float(data["mean"]), _optional(data, "sd"), place)


def _optional(data: Mapping[str, Any], key: str) -> float | None:
    return float(data[key]) if key in data else None
