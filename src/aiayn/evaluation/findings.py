"""The paper's statements, a family of tests of their own, over our models and decoding modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

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
)
from aiayn.evaluation.significance import paired
from aiayn.paper.findings import Statement, statements
from aiayn.results.comparison import DecodingModes, Finding, Verdict
from aiayn.results.seeds import by_seed

Modes = Sequence[Mapping[int, DecodingModes]]
"""Of each model of a task, by seed."""


def over_seeds(runs: Mapping[str, Run], modes: Mapping[str, DecodingModes]) -> Modes:
    """Runs' BLEU by decoding mode, grouped by task and model."""
    groups = by_seed({name: runs[name] for name in modes}).values()
    return [{seed: modes[name] for seed, name in names.items()} for names in groups]


def judge_findings(
    variations: Variations, samples: Mapping[str, Samples], modes: Modes
) -> dict[str, Finding]:
    """Every statement: whether it holds here.

    Args:
        samples: "bleu" and "perplexity".
        modes: as of `over_seeds`; each run is compared with itself.
    """
    claims = statements(variations.measures)
    run: dict[tuple[str, str], ContrastTest | Untested] = {
        (statement.measure, key): _test(statement, Design.of(variations, key), variations.base,
                                        samples, modes)
        for key, statement in claims.items()
        if _is_run(statement, samples, variations.base, modes)
    }  # fmt: skip
    decisions = decide(run)
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
    """Over the models of all tasks, each by the mean gain of its seeds: more seeds of one say
    nothing about the others. Where there is one alone, over its seeds."""
    gains = [
        [
            sum(weight * getattr(bleu, mode) for mode, weight in statement.rows.items())
            for bleu in by_seed.values()
        ]
        for by_seed in modes
    ]
    compared = [mean(seeds) for seeds in gains] if len(gains) > 1 else gains[0]
    seeds = interim_looks.reached(design.looks, max(map(len, gains)))
    if seeds is None:
        return Untested(f"first look at {design.looks[0]} seeds")
    if len(compared) < 2:
        return Untested("one run")
    # rounded, or equal gains would differ by float64's rounding
    difference = paired([round(gain, DECIMALS) for gain in compared])
    if difference is None:
        return Untested("the same in all runs")
    return ContrastTest("bleu", difference, len(compared), seeds, design.looks)


def _is_run(statement: Statement, samples: Mapping[str, Samples], base: str, modes: Modes) -> bool:
    if statement.over == "modes":
        return bool(modes)
    return _ours(statement, base).keys() <= samples[statement.measure].keys()


def _ours(statement: Statement, base: str) -> dict[str, float]:
    """Weights by our models: the paper's base is whichever the table varies."""
    return {base if row == "base" else row: weight for row, weight in statement.rows.items()}
