"""Families of tests over models: contrasts of log perplexity or BLEU, paired by seed, with p-values
corrected for the interim looks and for the size of the family (Holm)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aiayn.config import Variations
from aiayn.evaluation import interim_looks
from aiayn.evaluation.significance import LEVEL, Difference, holm, paired, power
from aiayn.paper import claims
from aiayn.results.comparison import Direction, Effect, Outcome, Seed

DECIMALS = 4
P_DECIMALS = 12
POWER = 0.8
MAX_COUNT = 1000

Samples = Mapping[str, Mapping[int, float]]
"""A measure by model and seed."""


def samples_by_measure(seeds: Mapping[str, Mapping[int, Seed]]) -> dict[str, Samples]:
    """BLEU and perplexity of runs, which are given by model and seed."""
    return {
        measure: {
            model: {seed: getattr(entry, measure) for seed, entry in entries.items()}
            for model, entries in seeds.items()
        }
        for measure in ("bleu", "perplexity")
    }


def _exp(logarithm: float) -> float:
    return math.exp(min(logarithm, 700))  # past this a float64 overflows


class Scale(NamedTuple):
    """The transformation on which a measure is tested, its inverse, and the paper's claims."""

    forward: Callable[[float], float]
    back: Callable[[float], float]
    claim: Callable[[str], Direction | None]


SCALES = {
    "bleu": Scale(float, float, claims.bleu_claim),
    "perplexity": Scale(math.log, _exp, claims.perplexity_claim),
}


def scale_of(measure: str) -> Scale:
    """The scale of a measure; of a metric that the paper does not have, its own, without claims."""
    return SCALES.get(measure, Scale(float, float, lambda _: None))


class Design(NamedTuple):
    """The design of a comparison's tests.

    Attributes:
        looks: increasing numbers of seeds at which tests are made; (): once, with all seeds.
        margins: margins of equivalence by measure, on the tested scale.
    """

    looks: tuple[int, ...] = ()
    margins: Mapping[str, float] = claims.MARGINS

    @classmethod
    def of(cls, variations: Variations, statement: str = "") -> Design:
        """The design of a scale, or of the statement with the key `statement`, whose looks may
        differ."""
        declared = variations.preregistration
        if declared is None:
            return cls(variations.interim_looks)
        own = declared.statements.get(statement)
        looks = own.interim_looks if own and own.interim_looks else variations.interim_looks
        margins = {"bleu": declared.margin_bleu, "perplexity": declared.margin_log_perplexity}
        return cls(looks, margins)


@dataclass(frozen=True)
class ContrastTest:
    """A test of a difference from 0 or, with a `margin`, of equivalence within it.

    Attributes:
        difference: on the tested scale.
        count: number of values that it is the mean of.
        seeds: number of seeds, one of `looks` if there are any.
        unpaired: seeds that one of the compared models lacks.
    """

    measure: str
    difference: Difference
    count: int
    seeds: int
    looks: tuple[int, ...] = ()
    margin: float | None = None
    unpaired: tuple[int, ...] = ()

    @property
    def is_interim(self) -> bool:
        """Whether another look will follow."""
        return bool(self.looks) and self.seeds < self.looks[-1]

    @property
    def p_value(self) -> float:
        """The uncorrected p-value. For a claim of equality it is the smaller one of two tests, of
        equivalence and of its opposite: only one of the hypotheses can be true, so both tests
        together have the level of one."""
        if self.margin is None:
            return self.difference.p_different()
        return min(self.difference.p_within(self.margin), self.difference.p_beyond(self.margin))

    @property
    def overall(self) -> float:
        """The p-value corrected for the looks."""
        if self.margin is None:
            return interim_looks.overall(self.p_value, self.looks, self.seeds)
        return interim_looks.overall(min(1.0, 2 * self.p_value), self.looks, self.seeds) / 2

    @property
    def finding(self) -> Outcome:
        """The outcome if the test is significant."""
        value = self.difference.value
        if self.margin is not None and abs(value) <= self.margin:
            return "equal"
        return "higher" if value > 0 else "lower"

    def interval(self, tests: int, *, is_significant: bool) -> tuple[float, float]:
        """A confidence interval, simultaneous with those of the family's other tests (Bonferroni)
        and consistent with Holm: if a test is significant only by Holm's later steps, the end is
        moved to 0, or to the margin. Two one-sided tests correspond to twice the level."""
        sides = 1 if self.margin is None else 2
        level = interim_looks.nominal(sides * LEVEL / tests, self.looks, self.seeds)
        low, high = self.difference.interval(level, self.margin)
        if not is_significant:
            return low, high
        margin = self.margin or 0.0
        if self.finding == "equal":
            return max(low, -margin), min(high, margin)
        return (max(low, margin), high) if self.finding == "higher" else (low, min(high, -margin))

    def count_needed(self, tests: int) -> int | None:
        """The smallest number of values with which the test, as one of a family of `tests`
        (Bonferroni), would have the power POWER, if difference and standard deviation are those
        observed; None above MAX_COUNT. A rough guide: both are estimates from few values."""
        value, deviation = self.difference.value, self.difference.error * math.sqrt(self.count)

        def power_of(count: int) -> float:
            return power(value, deviation, count, LEVEL / tests, self.margin)

        counts = range(2, MAX_COUNT + 1)
        first = bisect_left(counts, POWER, key=power_of)
        return counts[first] if first < len(counts) else None


class Untested(NamedTuple):
    """A contrast that cannot be tested, and the reason."""

    why: str


class Decision(NamedTuple):
    """The result of a test within its family; without an effect, `why` it was not tested."""

    effect: Effect | None
    outcome: Outcome
    why: str | None = None


def between_models(
    measure: str,
    weights: Mapping[str, float],
    models: Samples,
    design: Design,
    *,
    equality: bool,
) -> ContrastTest | Untested:
    """The test of a weighted sum of a measure over models, paired by seed.

    Args:
        weights: by model, adding up to 0: 1 and -1 for the difference of two models.
        equality: whether equality is claimed, rather than a difference.
    """
    forward = scale_of(measure).forward
    seeds = list(dict.fromkeys(seed for model in weights for seed in models[model]))
    paired_seeds = [seed for seed in seeds if all(seed in models[model] for model in weights)]
    count = interim_looks.reached(design.looks, len(paired_seeds))
    if count is None:
        return Untested(f"{len(paired_seeds)} seeds, first look at {design.looks[0]}")
    differences = [
        sum(weight * forward(models[model][seed]) for model, weight in weights.items())
        for seed in paired_seeds[:count]
    ]
    if len(differences) < 2:
        return Untested("one seed" if differences else "no seed in common")
    if (difference := paired(differences)) is None:
        return Untested("the same difference with every seed")
    unpaired = tuple(seed for seed in seeds if seed not in paired_seeds)
    margin = design.margins[measure] if equality else None
    return ContrastTest(measure, difference, count, count, design.looks, margin, unpaired)


def decide(
    tests: Mapping[tuple[str, str], ContrastTest | Untested],
) -> dict[tuple[str, str], Decision]:
    """The result of each test of a family, corrected for their number, by the same keys."""
    run = {key: test for key, test in tests.items() if isinstance(test, ContrastTest)}
    corrected = dict(zip(run, holm([test.overall for test in run.values()]), strict=True))
    decisions: dict[tuple[str, str], Decision] = {}
    for key, test in tests.items():
        if isinstance(test, Untested):
            decisions[key] = Decision(None, "undecided", test.why)
            continue
        is_significant = corrected[key] < LEVEL
        effect = _effect(
            test, test.interval(len(run), is_significant=is_significant), corrected[key]
        )
        decisions[key] = Decision(effect, test.finding if is_significant else "undecided")
    return decisions


def _effect(test: ContrastTest, interval: Sequence[float], corrected: float) -> Effect:
    """The effect on the measure's own scale, rounded as in the file."""
    back = scale_of(test.measure).back
    value, low, high = (
        round(back(bound), DECIMALS) + 0.0  # avoids -0.0
        for bound in (test.difference.value, *interval)
    )
    return Effect(
        value=value,
        low=low,
        high=high,
        p_value=round(test.p_value, P_DECIMALS),
        corrected=round(corrected, P_DECIMALS),
        count=test.count,
        unpaired=test.unpaired,
    )
