"""Runs of one model that differ in the seed alone: which of them count, their mean and spread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import mean, stdev
from typing import NamedTuple

from aiayn.config import Run


class Spread(NamedTuple):
    """Of `n` values: the mean, and the sample standard deviation; None of one value."""

    mean: float
    sd: float | None
    n: int


def by_seed(runs: Mapping[str, Run]) -> dict[tuple[str, str], dict[int, str]]:
    """Names of runs by (task, model), then by seed.

    Of several runs with the same task, model and seed the first counts: they are one training.
    """
    groups: dict[tuple[str, str], dict[int, str]] = {}
    for name, run in runs.items():
        groups.setdefault((run.task, run.model), {}).setdefault(run.seed, name)
    return groups


def spread(values: Iterable[float]) -> Spread:
    """Mean and standard deviation of a measure over seeds; of one value at least."""
    sample = list(values)
    return Spread(mean(sample), stdev(sample) if len(sample) > 1 else None, len(sample))
