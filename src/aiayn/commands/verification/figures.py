"""Comparison of every published figure with ours."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from aiayn.commands.verification.digests import Digests
from aiayn.commands.verification.intervals import PARAMETERS, PERPLEXITY, Basis, with_intervals
from aiayn.errors import DataError
from aiayn.results import paths
from aiayn.results.frames import Results
from aiayn.results.lock import Lock
from aiayn.validation import nearest

# what must match for two figures to be comparable, and the message if it does not
CONDITIONS = {
    "digests": "other sentences",
    "vocabulary": "another vocabulary",
    "signature": "another protocol: {here}, published {published}",
}


class NoReproductionError(DataError):
    """A folder has no scores to compare with; the message names the reproductions beside it."""

    def __init__(self, folder: Path) -> None:
        beside = [
            path.parent.parent.name for path in folder.parent.glob(f"*/{paths.SCORES}/*.json")
        ]
        advice = nearest(folder.name, sorted({*beside})) if beside else ""
        super().__init__(f"{folder}: not a reproduction, it has no {paths.SCORES}/.{advice}")


class Verdict(StrEnum):
    """How our figure compares with the published one."""

    SAME = "same"
    INSIDE = "inside"  # the interval
    OUTSIDE = "outside"
    MOVED = "moved"  # different, without an interval
    MISSING = "missing"
    INCOMPARABLE = "not comparable"


class Figure(BaseModel, frozen=True):
    """A published figure of a run, or of TASK.MODEL, and ours (`here`). `low` and `high` bound the
    expected interval, of the type `basis`; `why` is the reason if the two are not comparable."""

    run: str
    task: str
    figure: str
    published: float
    here: float | None
    low: float | None
    high: float | None
    basis: Basis | None
    verdict: Verdict
    why: str = ""


def compare(published: Path, here: Path) -> tuple[Figure, ...]:
    """Every published figure: perplexities and scores by run, then the models' sizes.

    Args:
        published, here: folders with params.yaml and results.
    Raises:
        NoReproductionError: the published folder has no scores.
        ConfigError, DataError, ScoreError, ProfileError: a file of either side is damaged.
    """
    if not any((published / paths.SCORES).glob("*.json")):
        raise NoReproductionError(published)
    joined = (
        with_intervals(_figures(published))
        .rename(columns={"value": "published"})
        .merge(
            _figures(here).rename(columns={"value": "here"}),
            how="left",
            on=["run", "figure"],
            suffixes=("", "_here"),
        )
    )
    rows = joined.astype(object).where(joined.notna(), None).to_dict("records")
    return tuple(Figure.model_validate({**row, **_verdict(row)}) for row in rows)


def _figures(root: Path) -> pd.DataFrame:
    """Columns run, task, model, seed, figure, value, low, high and CONDITIONS."""
    results, digests, lock = Results(root), Digests(root), Lock(root / paths.LOCK)
    scores = results.scores.assign(figure=lambda frame: frame["split"] + " " + frame["metric"])
    last = results.histories.dropna(subset="dev_perplexity").groupby("run")["dev_perplexity"].last()
    dev = scores[scores["split"] == paths.DEV].groupby("run")["digests"].first()
    folders = {task: paths.vocabulary(task) for task in results.config.tasks}
    # of the files or, if they are missing, as recorded
    vocabularies = {task: digests.of(at) or lock.out(str(at)) for task, at in folders.items()}
    perplexities = results.runs.join(last.rename("value"), on="run", how="inner").assign(
        figure=PERPLEXITY,
        digests=lambda frame: frame["run"].map(dev),
        vocabulary=lambda frame: frame["task"].map(vocabularies),  # perplexity is per piece
    )
    models = results.models[results.models["origin"] == "ours"]
    sizes = models.assign(
        run=models["task"] + "." + models["model"],
        figure=PARAMETERS,
        value=models["parameters"],
    )
    columns = ["run", "task", "model", "seed", "figure", "value", "low", "high", *CONDITIONS]
    by_run = pd.concat([perplexities, scores]).sort_values("run", kind="stable")
    figures = pd.concat([by_run, sizes], ignore_index=True).reindex(columns=columns)
    return figures.astype({"value": "float64"})


def _verdict(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The fields `verdict` and, if the figures are not comparable, `why`."""
    published, here, low, high = (row[name] for name in ("published", "here", "low", "high"))
    if here is None:
        return {"verdict": Verdict.MISSING}
    for name, why in CONDITIONS.items():
        theirs, ours = row[name], row[f"{name}_here"]
        if None not in (theirs, ours) and theirs != ours:
            why = why.format(published=theirs, here=ours)
            return {"verdict": Verdict.INCOMPARABLE, "why": why}
    if here == published:
        return {"verdict": Verdict.SAME}
    if low is None or high is None:
        return {"verdict": Verdict.MOVED}
    return {"verdict": Verdict.INSIDE if low <= here <= high else Verdict.OUTSIDE}
