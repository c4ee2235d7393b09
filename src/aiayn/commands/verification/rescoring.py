"""Recomputing scores from hypotheses and references, if both are available."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from aiayn.config import Kind, Text
from aiayn.errors import DataError, ScoreError
from aiayn.evaluation.metrics import metric
from aiayn.evaluation.scoring import score_task_split
from aiayn.results import history, paths, scores
from aiayn.results.frames import Results
from aiayn.results.json_files import if_there
from aiayn.results.scores import Score, SplitScores
from aiayn.results.text import read_manifest

TOLERANCE = 0.011  # scores are rounded to two decimals
PERPLEXITY_TOLERANCE = 1e-4  # relative; a history has six decimals


class Hypotheses(NamedTuple):
    """A run's hypotheses for a split, and the folder of the text that has its references."""

    kind: Kind
    spec: Text
    split: str
    text: Path
    outputs: Path

    @property
    def path(self) -> Path:
        return paths.hypotheses(self.outputs, self.split)


def contradictions(sides: Iterable[Results], texts: Path) -> tuple[str, ...]:
    """A sentence for each score that its hypotheses contradict, and for each last perplexity that
    its loss contradicts.

    Args:
        sides: the results of the project and of the reproduction.
        texts: the scale's folder whose text has the references.
    Raises:
        DataError, ScoreError: a file of scores or a history is damaged.
    """
    found: list[str] = []
    recorded: list[tuple[Path, Hypotheses, SplitScores]] = []
    for side in sides:
        for run in side.config.runs:
            found += _wrong_perplexity(side.root / paths.history(run))
            recorded += _recorded(side, run, texts)
    # usually both sides have the same hypotheses: score them once
    distinct = {_identity(one): one for _, one, _ in recorded}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        again = dict(zip(distinct, pool.map(_score, distinct.values()), strict=True))
    for file, one, split in recorded:
        found += _differences(file, one, split, again[_identity(one)])
    return tuple(found)


def _recorded(
    side: Results, run: str, texts: Path
) -> Iterator[tuple[Path, Hypotheses, SplitScores]]:
    """The splits of a run that can be rescored: file of scores, hypotheses and recorded scores."""
    file, task = side.root / paths.scores(run), side.config.task_of(run)
    text = texts / paths.text(side.config.run(run).task)
    found, manifest = if_there(scores.read, file), if_there(read_manifest, paths.manifest(text))
    if found is None or manifest is None:
        return
    for split, recorded in found.splits.items():
        one = Hypotheses(task.kind, task.text, split, text, side.root / paths.outputs(run))
        described = manifest.splits.get(split)
        if (
            described
            and described.sha256 == recorded.test_set.sha256
            and paths.lines(text, split, "target").exists()
            and one.path.exists()
        ):
            yield file, one, recorded


def _identity(one: Hypotheses) -> tuple[str, Path, str]:
    return one.split, one.text, hashlib.sha256(one.path.read_bytes()).hexdigest()


def _score(one: Hypotheses) -> SplitScores | str:
    """The scores, or the reason why there are none."""
    try:
        return score_task_split(*one).rounded()
    except (DataError, ScoreError) as error:
        return str(error)


def _differences(
    file: Path, one: Hypotheses, recorded: SplitScores, again: SplitScores | str
) -> Iterator[str]:
    if isinstance(again, str):
        yield again
        return
    for name, score in recorded.scores.items():
        other = again.scores.get(name)
        if other is None or metric(one.kind, name).is_fitted:
            continue
        if score.signature == other.signature and _differ(score, other):
            yield (
                f"{file}: {one.split} {name} is {_shown(score)}, but {one.path} scores "
                f"{_shown(other)}"
            )


def _differ(one: Score, other: Score) -> bool:
    pairs = ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    return any((a is None) != (b is None) or abs((a or 0) - (b or 0)) > TOLERANCE for a, b in pairs)


def _shown(score: Score) -> str:
    interval = "" if score.low is None else f" ({score.low:.2f} to {score.high:.2f})"
    return f"{score.value:.2f}{interval}"


def _wrong_perplexity(file: Path) -> Iterator[str]:
    curve = if_there(history.read, file)
    last = curve.lines[-1] if curve and curve.lines else None
    if last and last.dev_loss is not None and last.dev_perplexity is not None:
        expected = math.exp(min(last.dev_loss, 700))  # as it was written
        if not math.isclose(last.dev_perplexity, expected, rel_tol=PERPLEXITY_TOLERANCE):
            yield (
                f"{file}: the last dev_perplexity is {last.dev_perplexity:.2f}, but its dev_loss "
                f"gives {expected:.2f}"
            )
