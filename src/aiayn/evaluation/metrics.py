"""All metrics by kind of task. A new metric is one entry in its kind's module: the score stage
computes it, and tables, MLflow and `verify` read its name and label from here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aiayn.config import Kind
from aiayn.evaluation.accuracy import COPYING_METRICS
from aiayn.evaluation.bracket_metrics import BRACKET_METRICS
from aiayn.evaluation.label_metrics import LABEL_METRICS
from aiayn.evaluation.metric import Metric
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS

METRICS: Mapping[Kind, tuple[Metric[Any], ...]] = {
    "translation": TRANSLATION_METRICS,
    "parsing": BRACKET_METRICS,
    "copying": COPYING_METRICS,
    "classification": LABEL_METRICS,
}


def metric(kind: Kind, name: str) -> Metric[Any]:
    """The metric of this name. Raises KeyError if the kind of task has none."""
    return {metric.name: metric for metric in METRICS[kind]}[name]


def headline(kind: Kind, scored: Iterable[str]) -> str:
    """The first headline metric among a run's scores. Raises StopIteration if there is none."""
    names = set(scored)
    return next(item.name for item in METRICS[kind] if item.headline and item.name in names)
