"""What a metric is: its name, its label, and how it is computed from a run's outputs."""

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
        name: of the score in scores/RUN.json, and after the split in MLflow (test/NAME).
        label: of its column in tables, and in words.
        score: computes it; None where it is not defined for the outputs, as cased BLEU of
            lower-cased text.
        headline: whether runs are compared by it (metrics/RUN.json). Of the headline metrics of a
            kind of task, the first that is defined is taken.
        higher_is_better: False for an error rate.
        is_fitted: whether scoring fits a model, a baseline, whose result differs a little between
            machines: `aiayn verify` does not compute it again.
    """

    name: str
    label: str
    score: Callable[[Outputs], Score | None]
    headline: bool = False
    higher_is_better: bool = True
    is_fitted: bool = False


def score_by_name(metrics: Sequence[Metric[Outputs]], outputs: Outputs) -> dict[str, Score]:
    """The outputs' score by every metric that is defined for them, by the metric's name."""
    scores = {metric.name: metric.score(outputs) for metric in metrics}
    return {name: score for name, score in scores.items() if score is not None}
