"""Families of paired tests: verdicts, intervals, and the reason when seeds cannot be paired."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from aiayn.evaluation.contrasts import (
    POWER,
    ContrastTest,
    Decision,
    Design,
    Untested,
    between_models,
    decide,
)
from aiayn.evaluation.significance import Difference, power

MINUS = {"row": 1.0, "base": -1.0}
ONE_LOOK = Design()
BASE = {1: 27.36, 2: 18.1, 3: 24.3, 4: 18.6, 5: 22.0}


def contrast(
    row: dict[int, float], base: dict[int, float] = BASE, design: Design = ONE_LOOK
) -> ContrastTest:
    found = between_models("bleu", MINUS, {"row": row, "base": base}, design, equality=False)
    assert isinstance(found, ContrastTest)
    return found


def test_models_are_paired_by_seed() -> None:
    """scipy's paired test of the seeds that both have, in any order."""
    row = {5: 23.1, 2: 18.5, 1: 27.9, 7: 50.0}
    found = contrast(row)
    expected = stats.ttest_rel([23.1, 18.5, 27.9], [22.0, 18.1, 27.36])
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.count, set(found.unpaired)) == (3, {3, 4, 7})
    decision = decide({("bleu", "row"): found})["bleu", "row"]
    assert decision.effect
    assert set(decision.effect.unpaired) == {3, 4, 7}


def test_a_contrast_of_three_models_tests_their_weighted_sum() -> None:
    models = {"a": {1: 1.0, 2: 2.5, 3: 2.0}, "b": {1: 2.0, 2: 2.0, 3: 4.5}, "base": BASE}
    weights = {"a": 0.5, "b": 0.5, "base": -1.0}
    found = between_models("bleu", weights, models, Design(), equality=False)
    assert isinstance(found, ContrastTest)
    differences = [(models["a"][s] + models["b"][s]) / 2 - BASE[s] for s in (1, 2, 3)]
    assert found.p_value == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


@pytest.mark.parametrize(
    ("row", "looks", "reason"),
    [
        ({1: 9.0}, (), "one seed"),
        ({9: 9.0}, (), "no seed in common"),
        ({seed: value + 1 for seed, value in {1: 2.0, 2: 4.0}.items()}, (), "the same difference"),
        ({1: 9.0, 2: 8.0}, (3, 5), "2 seeds, first look at 3"),
    ],
)
def test_the_reason_why_nothing_is_tested(
    row: dict[int, float], looks: tuple[int, ...], reason: str
) -> None:
    base = {1: 2.0, 2: 4.0}
    found = between_models(
        "bleu", MINUS, {"row": row, "base": base}, Design(looks), equality=False
    )  # fmt: skip
    assert isinstance(found, Untested)
    assert reason in found.why
    assert decide({("bleu", "row"): found}) == {
        ("bleu", "row"): Decision(None, "undecided", found.why)
    }


def test_seeds_after_a_look_count_from_the_next() -> None:
    row = {seed: value + 0.1 * seed for seed, value in BASE.items()}
    four_seeds = {seed: row[seed] for seed in (1, 2, 3, 4)}
    design = Design((3, 5))
    assert (
        contrast(four_seeds, design=design).difference
        == contrast(dict(list(row.items())[:3])).difference
    )
    assert contrast(row, design=design).count == 5


def test_perplexity_is_tested_by_its_logarithm() -> None:
    row, base = {1: 3.0, 2: 7.0, 3: 5.0}, {1: 4.0, 2: 5.0, 3: 4.5}
    found = between_models(
        "perplexity", MINUS, {"row": row, "base": base}, Design(), equality=False
    )  # fmt: skip
    assert isinstance(found, ContrastTest)
    logs = [np.log(list(side.values())) for side in (row, base)]
    expected = stats.ttest_rel(*logs)
    effect = decide({("perplexity", "row"): found})["perplexity", "row"].effect
    assert effect
    assert effect.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert (effect.low, effect.high) == pytest.approx(
        (math.exp(interval.low), math.exp(interval.high)), rel=1e-3
    )
    assert effect.value == pytest.approx(math.exp(np.mean(logs[0] - logs[1])), abs=1e-4)


def family(
    generator: np.random.Generator, looks: tuple[int, ...]
) -> dict[tuple[str, str], ContrastTest]:
    tests = {}
    for n in range(int(generator.integers(1, 12))):
        seeds = int(generator.choice(looks or [5]))
        difference = Difference(
            float(generator.normal(0, 1.5)), float(generator.uniform(0.05, 0.6)), seeds - 1
        )
        margin = float(generator.choice([0.05, 0.5])) if generator.random() < 0.4 else None
        tests["bleu", str(n)] = ContrastTest("bleu", difference, seeds, seeds, looks, margin)
    return tests


@pytest.mark.parametrize("looks", [(), (4, 7, 10)])
def test_intervals_and_verdicts_never_disagree(looks: tuple[int, ...]) -> None:
    """Decided: the interval excludes 0, or is within or beyond the margin; undecided: neither. Each
    interval contains its estimate."""
    generator = np.random.default_rng(3)
    outcomes = set()
    for _ in range(200):
        tests = family(generator, looks)
        for key, decision in decide(tests).items():
            test, effect, outcome = tests[key], decision.effect, decision.outcome
            assert effect
            margin = test.margin or 0.0
            is_beyond = effect.low >= margin or effect.high <= -margin
            is_within = test.margin is not None and -margin <= effect.low and effect.high <= margin
            assert (outcome != "undecided") == (is_beyond or is_within)
            assert (outcome == "equal") == is_within
            assert is_beyond == (outcome in ("higher", "lower"))
            assert effect.low <= effect.value <= effect.high
            assert (effect.corrected < 0.05) == (outcome != "undecided")
            outcomes.add(outcome)
    assert outcomes == {"higher", "lower", "equal", "undecided"}


def test_intervals_of_a_family_are_simultaneous() -> None:
    """Of families without a difference, 95 % have 0 in all intervals."""
    generator = np.random.default_rng(5)
    missed = 0
    for differences in generator.normal(0, 1, (800, 10, 5)):
        tests = {
            ("bleu", str(n)): contrast(dict(enumerate(row)), dict.fromkeys(range(5), 0.0))
            for n, row in enumerate(differences.tolist())
        }
        effects = [decision.effect for decision in decide(tests).values()]
        missed += any(effect and not effect.low < 0 < effect.high for effect in effects)
    assert missed / 800 == pytest.approx(0.05, abs=0.02)


def test_equality_is_not_the_absence_of_a_difference() -> None:
    """With a wide spread it is undecided, with a small one equal, beyond the margin unequal."""
    wide = dict(zip(range(5), (-2.0, 3.0, 1.0, -3.0, 0.5), strict=True))
    small = dict(zip(range(5), (0.01, -0.02, 0.03, 0.0, 0.01), strict=True))
    near_margin = {seed: value + 0.3 for seed, value in small.items()}
    beyond = {seed: value - 0.6 for seed, value in small.items()}
    zero = dict.fromkeys(range(5), 0.0)
    for row, outcome in (
        (wide, "undecided"),
        (small, "equal"),
        (near_margin, "undecided"),
        (beyond, "lower"),
    ):
        found = between_models("bleu", MINUS, {"row": row, "base": zero}, Design(), equality=True)
        assert isinstance(found, ContrastTest)
        assert decide({("bleu", "row"): found})["bleu", "row"].outcome == outcome


def test_extreme_values_raise_no_error() -> None:
    models = {"row": {1: 6.0, 2: 7.0}, "base": {1: 5.0, 2: math.exp(700)}}
    found = between_models("perplexity", MINUS, models, Design(), equality=False)
    decision = decide({("perplexity", "row"): found})["perplexity", "row"]
    assert decision.effect
    assert math.isfinite(decision.effect.high)


@pytest.mark.parametrize("margin", [None, 0.5])
def test_the_number_of_seeds_that_would_decide_a_test(margin: float | None) -> None:
    """It is the first that reaches the power, however many seeds estimated the spread."""
    for seeds in (3, 12):
        spread = Difference(0.2, 0.4 / math.sqrt(seeds), seeds - 1)
        needed = ContrastTest("bleu", spread, seeds, seeds, margin=margin).count_needed(14)
        assert needed
        reached = [power(0.2, 0.4, count, 0.05 / 14, margin) for count in (needed - 1, needed)]
        assert reached[0] < POWER <= reached[1]
    none = ContrastTest("bleu", Difference(0.001, 0.4, 4), 5, 5)
    assert none.count_needed(14) is None
