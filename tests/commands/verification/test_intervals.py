"""Expected intervals, checked by independent arithmetic."""

from __future__ import annotations

from math import exp, log, sqrt
from statistics import mean, variance
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from aiayn.commands.verification.intervals import PERPLEXITY, with_intervals


def figures(values: dict[str, list[float]], figure: str = "test bleu") -> pd.DataFrame:
    rows = [
        {
            "run": f"{model}-s{seed}", "task": "t", "model": model, "seed": seed, "figure": figure,
            "value": value, "low": value - 2, "high": value + 2,
        }
        for model, sample in values.items()
        for seed, value in enumerate(sample, start=1)
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"value": "float64"})


def bounds(frame: pd.DataFrame, run: str) -> tuple[Any, ...]:
    found = with_intervals(frame)
    return tuple(found.loc[found["run"] == run, ["low", "high", "basis"]].iloc[0])


def test_three_seeds_of_one_model_predict_a_fourth() -> None:
    sample = [20.0, 21.0, 21.5]
    half = stats.t(2).ppf(0.9995) * sqrt(variance(sample) * (1 + 1 / 3))
    low, high, basis = bounds(figures({"base": sample}), "base-s2")
    assert (low, high) == pytest.approx((max(0, mean(sample) - half), mean(sample) + half))
    assert basis == "seeds"


def test_variances_of_three_models_are_pooled() -> None:
    samples = {"base": [20.0, 21.0, 22.0], "big": [25.0, 25.2, 25.1], "small": [10.0, 11.0]}
    pooled = (2 * 1.0 + 2 * 0.01 + 1 * 0.5) / 5
    half = stats.t(5).ppf(0.9995) * sqrt(pooled * (1 + 1 / 3))
    low, high, _ = bounds(figures(samples), "big-s1")
    assert (low, high) == pytest.approx((25.1 - half, 25.1 + half))
    assert bounds(figures(samples), "small-s1") == (8.0, 12.0, "sentences")


def test_perplexity_varies_by_a_factor() -> None:
    sample = [8.0, 8.5, 9.0]
    logs = [*map(log, sample)]
    half = stats.t(2).ppf(0.9995) * sqrt(variance(logs) * (1 + 1 / 3))
    low, high, _ = bounds(figures({"base": sample}, PERPLEXITY), "base-s1")
    assert (low, high) == pytest.approx((exp(mean(logs) - half), exp(mean(logs) + half)))
    assert bounds(figures({"base": [9.0]}, PERPLEXITY), "base-s1") == (6.0, 13.5, "factor")


def test_seeds_with_equal_scores_are_not_used() -> None:
    assert bounds(figures({"base": [100.0, 100.0, 100.0]}), "base-s1") == (98.0, 102.0, "sentences")
