"""Whether a number of ours reproduces one of the paper's, and when that may be asked at all.

A verdict needs like beside like: the paper's evaluation set, training on WMT 2014's corpora, and a
model that equals the paper's in every column of table 3 and in the number of averaged checkpoints.
Anything else was not run at this scale, whatever its score.

Two figures measured the paper's way count as equal up to TOLERANCE_BLEU. Late checkpoints of one
training differ by about 0.3 BLEU (as NVIDIA's DeepLearningExamples report), so less would ask for
luck. A protocol mistaken for another moves a score by 0.7 or more (fairseq's big EN-DE: 29.3
with compounds split, 28.6 by sacreBLEU), so more would let a wrong ruler pass. The bootstrap
interval is shown but does not decide: it says how far the score would move on other sentences, and
the paper's sentences are the same as ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from aiayn.config import Model
from aiayn.paper import EvaluationSet, Printed, RequiredModel

TOLERANCE_BLEU = 0.5


class Verdict(Enum):
    """What can be said of a cell."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    NOT_RUN = "not run at this scale"


@dataclass(frozen=True)
class Judgement:
    """A verdict; `difference` is ours minus the paper's in BLEU, absent where nothing was run.

    `reasons` tell, in a few words each, why the cell could not be judged.
    """

    verdict: Verdict
    difference: float | None = None
    reasons: tuple[str, ...] = ()


def judge(paper: float, ours: float | None, departures: tuple[str, ...]) -> Judgement:
    """Compare two BLEU scores.

    Args:
        paper: the printed value.
        ours: by the paper's protocol, None where there is no such score.
        departures: what keeps ours from being the paper's experiment; see the functions below.
    """
    if ours is None or departures:
        return Judgement(Verdict.NOT_RUN, reasons=departures or ("no score yet",))
    # two decimals are what scores are kept with; without rounding, 27.8 - 27.3 exceeds 0.5
    difference = round(ours - paper, 2)
    within = abs(difference) <= TOLERANCE_BLEU
    return Judgement(Verdict.REPRODUCED if within else Verdict.DIFFERS, difference)


def set_departures(paper: EvaluationSet, ours: EvaluationSet) -> Iterator[str]:
    """How the scored set differs from the paper's."""
    if ours.corpora != paper.corpora:
        yield f"scored on {' + '.join(ours.corpora)}, not on {' + '.join(paper.corpora)}"
    elif ours.pairs != paper.pairs:
        yield f"{' + '.join(ours.corpora)} has {ours.pairs} pairs here, not {paper.pairs}"


def training_departures(paper: tuple[str, ...], ours: tuple[str, ...]) -> Iterator[str]:
    """How the training corpora differ from the paper's; their order does not count."""
    if set(ours) != set(paper):
        yield f"trained on {' + '.join(ours)}, not on {' + '.join(paper)}"


def model_departures(paper: RequiredModel, ours: Model) -> Iterator[str]:
    """Which columns of the model differ from the paper's."""
    yield from parameter_departures(paper.columns, ours)
    if ours.average != paper.average:
        yield f"{ours.average} checkpoints averaged, not {paper.average}"


def parameter_departures(paper: Mapping[str, Printed], ours: object) -> Iterator[str]:
    """Which parameters differ from those that the paper states."""
    for name, printed in paper.items():
        value = getattr(ours, name)
        if not _equal(printed, value):
            yield f"{name} is {value}, not {printed.text}"


def _equal(printed: Printed, value: float | str) -> bool:
    if isinstance(value, str):
        return value == printed.text
    return math.isclose(value, printed.value)
