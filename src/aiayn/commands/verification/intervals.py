"""Expected intervals for a figure when the same run is repeated.

A model that was published with three or more seeds has a prediction interval for one more training.
Its variance is pooled over the task's models if three or more have several seeds, because few seeds
estimate a variance poorly. The confidence is high because hundreds of figures are compared, and one
outside its interval fails the verification.

With fewer seeds, the interval of a score is its published 95 % confidence interval over sentences,
and that of a perplexity is a constant factor.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Literal

import pandas as pd
from scipy.special import stdtrit

PARAMETERS = "parameters"
PERPLEXITY = "dev perplexity"

LEVEL = 0.001
SEEDS = 3  # minimum number of a model's seeds, and of models whose variances are pooled
# the standard deviation of perplexity over the seeds of published models is 0.5 to 3 %, and 11 % if
# the training was stopped early (reproductions/)
FACTOR = 1.5

Basis = Literal["seeds", "sentences", "factor", "count"]


def with_intervals(figures: pd.DataFrame) -> pd.DataFrame:
    """Figures with the bounds `low` and `high` and their `basis`, missing if there is no interval.

    Args:
        figures: columns task, model, seed, figure, value, and the bounds over sentences, low and
            high.
    """
    groups = [
        _of_figure(group, str(figure)) for (_, figure), group in figures.groupby(["task", "figure"])
    ]
    return pd.concat(groups).reindex(figures.index)


def _of_figure(group: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Intervals of one figure of a task's models."""
    if figure == PARAMETERS:
        return group.assign(low=group["value"], high=group["value"], basis="count")
    found = group.assign(
        basis=group["low"].map(lambda bound: None if pd.isna(bound) else "sentences")
    )
    if figure == PERPLEXITY:
        found = found.assign(
            low=group["value"] / FACTOR, high=group["value"] * FACTOR, basis="factor"
        )
    for model, (low, high) in _by_seeds(group, figure).items():
        of_model = found["model"] == model
        found = found.assign(
            low=found["low"].mask(of_model, low),
            high=found["high"].mask(of_model, high),
            basis=found["basis"].mask(of_model, "seeds"),
        )
    return found


def _by_seeds(group: pd.DataFrame, figure: str) -> dict[str, tuple[float, float]]:
    """Prediction intervals of models with at least SEEDS seeds, on a log scale for perplexity.

    There is none if all seeds gave the same figure: the variance of 0 would be too optimistic.
    """
    to, back = (log, exp) if figure == PERPLEXITY else (float, float)
    distinct = group.drop_duplicates(["model", "seed"])
    values = distinct["value"].map(to).groupby(distinct["model"])
    models = pd.DataFrame({"mean": values.mean(), "var": values.var(), "n": values.count()})
    several = models[models["n"] > 1]
    bounds = {}
    for model, mean, n in several.loc[several["n"] >= SEEDS, ["mean", "n"]].itertuples():
        sample = several if len(several) >= SEEDS else several.loc[[model]]
        degrees = (sample["n"] - 1).sum()
        variance = (sample["var"] * (sample["n"] - 1)).sum() / degrees
        if variance > 0:
            half = float(stdtrit(degrees, 1 - LEVEL / 2)) * sqrt(variance * (1 + 1 / n))
            bounds[str(model)] = (max(0.0, back(mean - half)), back(mean + half))
    return bounds
