"""Reading a reproduction's folder for the pages about it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from aiayn.config import PARAMS
from aiayn.results import metadata, paths
from aiayn.results.frames import Results
from aiayn.results.metadata import TrainingMetadata


class Reproduction(Results):
    """A reproduction's results and trainings. Errors as for `Results`.

    Args:
        root: the folder.
        name: default: the folder's name.
    """

    def __init__(self, root: Path, name: str | None = None) -> None:
        super().__init__(root)
        self.name = name or root.resolve().name

    @cached_property
    def by_run(self) -> dict[str, TrainingMetadata]:
        """The metadata of every training of the graph, by run."""
        files = {run: self.root / paths.training_metadata(run) for run in self.config.runs}
        return {run: metadata.read_train(path) for run, path in files.items() if path.exists()}

    @cached_property
    def trainings(self) -> list[TrainingMetadata]:
        """The same, ordered by end time."""
        return sorted(self.by_run.values(), key=lambda training: training.ended)

    def distinct(self, fact: Callable[[TrainingMetadata], Any]) -> list[str]:
        """The distinct values of a fact of the trainings."""
        return list(dict.fromkeys(str(fact(training)) for training in self.trainings))

    @cached_property
    def test_scores(self) -> pd.DataFrame:
        """The first score of each run on each of its test sets."""
        return self.scores[self.scores["split"] != paths.DEV].drop_duplicates(["run", "split"])

    @property
    def verdicts(self) -> str:
        """The number of the paper's statements by verdict, as text; empty without a comparison."""
        counts = self.findings["verdict"].value_counts(sort=False)
        return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def reproductions(folder: Path) -> list[Reproduction]:
    """All reproductions in a folder, by name.

    Raises:
        ConfigError: the parameters of one are damaged.
    """
    return [Reproduction(path.parent) for path in sorted(folder.glob(f"[!.]*/{PARAMS}"))]


def interval(score: pd.Series) -> str:
    """The 95 % confidence interval of a row of scores, if it has one."""
    return "" if pd.isna(score["low"]) else f"{score['low']:.2f} to {score['high']:.2f}"
