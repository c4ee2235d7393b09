"""The definition of a metric: its name, label and computation from a run's outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from aiayn.results.scores import Score

Outputs = TypeVar("Outputs")


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[Outputs]):
    """A score of a run's outputs on one set of sentences, in percent.

    Attributes:
        name: key in scores/RUN.json, and in MLflow after the split (test/NAME).
        label: column heading in tables, and name in text.
        score: computes the score; None if it is not defined for the outputs, such as cased BLEU for
            lower-cased text.
        headline: whether it is a main metric (metrics/RUN.json). Of a kind's headline metrics, the
            first one that is defined is used.
        higher_is_better: False for an error rate.
        compared: whether table 3 compares its rows by this metric too (translation alone).
        is_fitted: whether scoring fits a model, a baseline, whose result differs a little between
            machines: `aiayn verify` does not compute it again.
    """

    name: str
    label: str
    score: Callable[[Outputs], Score | None]
    headline: bool = False
    higher_is_better: bool = True
    compared: bool = False
    is_fitted: bool = False


def score_by_name(metrics: Sequence[Metric[Outputs]], outputs: Outputs) -> dict[str, Score]:
    """The outputs' scores by metric name, for all metrics that are defined for them."""
    scores = {metric.name: metric.score(outputs) for metric in metrics}
    return {name: score for name, score in scores.items() if score is not None}
