"""Tests of the paper's statements, as a family, over our models and decoding modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from aiayn.config import Run, Variations
from aiayn.evaluation import interim_looks
from aiayn.evaluation.contrasts import (
    DECIMALS,
    ContrastTest,
    Design,
    Samples,
    Untested,
    between_models,
    decide,
    samples_by_measure,
)
from aiayn.evaluation.significance import paired
from aiayn.paper.findings import Statement, statements
from aiayn.results.comparison import Comparison, DecodingModes, Finding, Verdict
from aiayn.results.seeds import by_seed

Modes = Sequence[Mapping[int, DecodingModes]]
"""For each model of each task: BLEU by decoding mode, by seed."""


def over_seeds(runs: Mapping[str, Run], modes: Mapping[str, DecodingModes]) -> Modes:
    """Runs' BLEU by decoding mode, grouped by task and model."""
    groups = by_seed({name: runs[name] for name in modes}).values()
    return [{seed: modes[name] for seed, name in names.items()} for names in groups]


def judge_findings(
    variations: Variations, samples: Mapping[str, Samples], modes: Modes
) -> dict[str, Finding]:
    """Test every statement of the paper.

    Args:
        samples: for "bleu" and "perplexity".
        modes: as from `over_seeds`; each run is compared with itself.
    """
    claims = statements(variations.measures)
    decisions = decide(_tests(variations, samples, modes))
    findings: dict[str, Finding] = {}
    for key, statement in claims.items():
        if (statement.measure, key) not in decisions:
            findings[key] = Finding(verdict="not run at this scale")
            continue
        effect, outcome, why = decisions[statement.measure, key]
        verdict: Verdict = "undecided"
        if outcome != "undecided":
            holds = outcome == statement.claim
            verdict = "holds at this scale" if holds else "does not hold at this scale"
        findings[key] = Finding(verdict=verdict, effect=effect, why_not_tested=why)
    return findings


class Undecided(NamedTuple):
    """The test of an undecided statement, and how many seeds (of decoding modes: models) would
    decide it: see `ContrastTest.count_needed`."""

    test: ContrastTest
    count_needed: int | None


def undecided(
    variations: Variations, runs: Mapping[str, Run], compared: Comparison
) -> dict[str, Undecided]:
    """The tested statements that are undecided, by key."""
    seeds = {
        model: {int(seed): entry for seed, entry in variation.seeds.items()}
        for model, variation in compared.models.items()
    }
    found = _tests(variations, samples_by_measure(seeds), over_seeds(runs, compared.modes))
    tests = {key: test for (_, key), test in found.items() if isinstance(test, ContrastTest)}
    verdicts = {key: finding.verdict for key, finding in compared.findings.items()}
    return {
        key: Undecided(test, test.count_needed(len(tests)))
        for key, test in tests.items()
        if verdicts.get(key) == "undecided"
    }


def _tests(
    variations: Variations, samples: Mapping[str, Samples], modes: Modes
) -> dict[tuple[str, str], ContrastTest | Untested]:
    """By measure and key: the tests of the statements whose models or modes are there."""
    return {
        (statement.measure, key): _test(statement, Design.of(variations, key), variations.base,
                                        samples, modes)
        for key, statement in statements(variations.measures).items()
        if _is_run(statement, samples, variations.base, modes)
    }  # fmt: skip


def _test(
    statement: Statement, design: Design, base: str, samples: Mapping[str, Samples], modes: Modes
) -> ContrastTest | Untested:
    if statement.over == "modes":
        return _between_modes(statement, design, modes)
    return between_models(
        statement.measure, _ours(statement, base), samples[statement.measure], design,
        equality=statement.claim == "equal",
    )  # fmt: skip


def _between_modes(statement: Statement, design: Design, modes: Modes) -> ContrastTest | Untested:
    """The test over the models of all tasks, on each one's mean gain over its seeds (the seeds of
    one model are not independent samples of models). With one model, over its seeds."""
    seeds = interim_looks.reached(design.looks, max(map(len, modes)))
    if seeds is None:
        return Untested(f"first look at {design.looks[0]} seeds")
    gains = [
        [
            sum(weight * getattr(bleu, mode) for mode, weight in statement.rows.items())
            for bleu in list(by_seed.values())[:seeds]
        ]
        for by_seed in modes
    ]
    values = [mean(of_seeds) for of_seeds in gains] if len(gains) > 1 else gains[0]
    if len(values) < 2:
        return Untested("one run")
    # rounded so that equal gains stay equal in floating point
    difference = paired([round(gain, DECIMALS) for gain in values])
    if difference is None:
        return Untested("the same in all runs")
    return ContrastTest("bleu", difference, len(values), seeds, design.looks)


def _is_run(statement: Statement, samples: Mapping[str, Samples], base: str, modes: Modes) -> bool:
    if statement.over == "modes":
        return bool(modes)
    return _ours(statement, base).keys() <= samples[statement.measure].keys()


def _ours(statement: Statement, base: str) -> dict[str, float]:
    """Weights by the names of our models, whose base may have another name."""
    return {base if row == "base" else row: weight for row, weight in statement.rows.items()}
