"""Families of tests over models: contrasts of perplexity or BLEU, each on the measure's own scale,
p-values corrected over the family (Holm) and over the times that it was looked at."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aiayn.evaluation.significance import LEVEL, Difference, contrast, holm
from aiayn.paper import claims
from aiayn.results.comparison import Direction, Effect, Outcome

DECIMALS = 4
P_DECIMALS = 6

Samples = Mapping[str, Sequence[float]]


def _exp(logarithm: float) -> float:
    return math.exp(min(logarithm, 700))  # past this a float64 overflows


class Scale(NamedTuple):
    """On which scale a measure is judged, what the paper says of a row there, and how near to the
    base's is "equal"."""

    forward: Callable[[float], float]
    back: Callable[[float], float]
    claim: Callable[[str], Direction | None]
    margin: float


SCALES = {
    "bleu": Scale(float, float, claims.bleu_claim, claims.MARGIN_BLEU),
    "perplexity": Scale(math.log, _exp, claims.perplexity_claim, claims.MARGIN_LOG_PERPLEXITY),
}


class Question(NamedTuple):
    """A question put to a difference. `outcome` is what it says if it is significant."""

    name: str
    measure: str
    difference: Difference
    outcome: Outcome
    p_value: float

    def effect(self, corrected: float) -> Effect:
        """On the measure's own scale; rounded as the file has it, so that what is written is what
        was held."""
        back = SCALES[self.measure].back
        value, low, high = (
            round(back(bound), DECIMALS)
            for bound in (self.difference.value, *self.difference.interval())
        )
        return Effect(
            value=value,
            low=low,
            high=high,
            p_value=round(self.p_value, P_DECIMALS),
            corrected=round(corrected, P_DECIMALS),
        )


def between_models(
    name: str,
    measure: str,
    weights: Mapping[str, float],
    models: Samples,
    base: str,
    *,
    equality: bool,
) -> Iterator[Question]:
    """The tests of a contrast of models; see `significance.contrast`. None where it says nothing.

    A claim of equality brings two: that the difference is within the margin, and that it is beyond
    it. Any other brings one, two-sided: that there is a difference.
    """
    scale = SCALES[measure]
    samples = {
        model: [scale.forward(value) for value in models[model]] for model in {*weights, base}
    }
    found = contrast(weights, samples, base)
    if found is None:
        return
    if equality:
        yield Question(name, measure, found, "equal", found.p_within(scale.margin))
        yield Question(name, measure, found, _away(found), found.p_beyond(scale.margin))
    else:
        yield different(name, measure, found)


def different(name: str, measure: str, found: Difference) -> Question:
    """Two-sided: that there is a difference."""
    return Question(name, measure, found, _away(found), found.p_different())


def _away(found: Difference) -> Outcome:
    return "higher" if found.value > 0 else "lower"


def decided(
    tests: Sequence[Question], looks: int | None
) -> dict[tuple[str, str], tuple[Effect, Outcome]]:
    """Of a family of tests, corrected for their number and for that of the looks at them
    (Bonferroni; None is one): by measure and name the nearer to being said, and what it says."""
    corrected = [min(1.0, p * (looks or 1)) for p in holm([test.p_value for test in tests])]
    nearest: dict[tuple[str, str], tuple[Effect, Outcome]] = {}
    for test, p_corrected in zip(tests, corrected, strict=True):
        place = (test.measure, test.name)
        if place not in nearest or test.p_value < nearest[place][0].p_value:
            outcome: Outcome = test.outcome if p_corrected < LEVEL else "undecided"
            nearest[place] = test.effect(p_corrected), outcome
    return nearest
