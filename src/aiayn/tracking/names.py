"""What a run is called in MLflow: its identity, its params and its metrics, in one place.

Live logging and the sync both name things here, so that one completes what the other began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiayn.config import Config
from aiayn.paper import PAPER

FINGERPRINT = "aiayn.fingerprint"
MIRRORED = "aiayn.mirrored"  # digest of what the sync brought in


@dataclass(frozen=True, kw_only=True)
class RunIdentity:
    """Which run of the graph this is.

    `fingerprint` is a digest of what the training consumed: with the run's name, it is how the
    same MLflow run is found again. The report has neither task nor model.
    """

    scale: str
    run: str
    fingerprint: str
    task: str = ""
    model: str = ""

    @property
    def experiment(self) -> str:
        """The MLflow experiment: one a scale."""
        return f"aiayn/{self.scale}"

    def tags(self) -> dict[str, str]:
        """The identity as MLflow tags."""
        tags = {
            "scale": self.scale,
            "run": self.run,
            "task": self.task,
            "model": self.model,
            FINGERPRINT: self.fingerprint,
        }
        return {key: value for key, value in tags.items() if value}


def run_params(config: Config, run: str) -> dict[str, str]:
    """What fixes the training of `run`, as MLflow params: the model's row, the task, the recipe.

    Raises:
        ConfigError: there is no such run.
    """
    model = config.model_of(run)
    task = config.task(config.run(run).task)
    return _as_text(
        {
            **model.columns,
            "seed": config.run(run).seed,
            "source": task.text.source,
            "target": task.text.target,
            "corpora": ", ".join(task.text.train),
            "bpe": task.bpe.model_dump(),
            "training": config.training.model_dump(),
        }
    )


def run_settings(config: Config, run: str) -> dict[str, str]:
    """What may change while the fingerprint of a training stays the same, as MLflow tags: how it is
    launched and on what, how its weights are searched with. MLflow never lets a param change.

    Raises:
        ConfigError: there is no such run.
    """
    search = config.task_of(run).decoding
    return _as_text(
        {
            "machine": config.machine.model_dump(),
            "launcher": config.launcher.command,
            **({"decoding": search.model_dump()} if search else {}),
        }
    )


def place_in_the_paper(config: Config, run: str) -> dict[str, str]:
    """MLflow tags: whether the run is tested, and the row and group (C) of table 3 that it is.

    Raises:
        ConfigError: there is no such run.
    """
    described = config.run(run)
    tags = {"tested": str(run in config.tested).lower()}
    if described.task != config.variations.task:
        return tags
    rows = {row: row for row in PAPER.table_3 if row != "base"}
    row = (rows | {config.variations.base: "base"}).get(described.model)
    if row:
        tags["row"] = row
        group, _, variation = row.partition("_")
        if variation:
            tags["group"] = group
    return tags


def metric_name(column: str) -> str:
    """The MLflow metric for a column of history/RUN.csv: `loss` is train/loss, `dev_loss` dev/loss.

    MLflow's charts are grouped by what stands before the slash.
    """
    if "/" in column:
        return column
    if column.startswith("dev_"):
        return f"dev/{column.removeprefix('dev_')}"
    return f"train/{column}"


def _as_text(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested values by dotted name, as MLflow keeps them: text."""
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= _as_text(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = str(value)
    return flat
