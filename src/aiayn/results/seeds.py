"""Runs that differ only in their seed: grouping, mean and standard deviation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import mean, stdev
from typing import NamedTuple

from aiayn.config import Run


class Spread(NamedTuple):
    """The mean of `n` values, and their sample standard deviation; None for one value."""

    mean: float
    sd: float | None
    n: int


def by_seed(runs: Mapping[str, Run]) -> dict[tuple[str, str], dict[int, str]]:
    """Names of runs by (task, model), then by seed.

    Of several runs with the same task, model and seed, only the first counts: they are identical.
    """
    groups: dict[tuple[str, str], dict[int, str]] = {}
    for name, run in runs.items():
        groups.setdefault((run.task, run.model), {}).setdefault(run.seed, name)
    return groups


def spread(values: Iterable[float]) -> Spread:
    """Mean and standard deviation of at least one value."""
    sample = list(values)
    return Spread(mean(sample), stdev(sample) if len(sample) > 1 else None, len(sample))
