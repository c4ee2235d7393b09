"""Table 3's rows beside the model that they vary: perplexity and BLEU over seeds, and whether they
part from the base's by more than another seed would make them.

A row is judged by `significance.contrast`: one of a single seed by the spread of the base's seeds,
one of several by Welch's t. The paper's "nearly identical" is a claim of equality and is tested as
one. Perplexity is judged by its logarithm, the loss. p-values are corrected over all tests of the
table (Holm).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from aiayn.config import Config, Run
from aiayn.errors import ScoreError
from aiayn.paper import claims
from aiayn.paper.findings import STATEMENTS
from aiayn.paper.table_3 import ROWS
from aiayn.records import history, places
from aiayn.records.comparison import (
    Comparison,
    Direction,
    Effect,
    Finding,
    Measure,
    Outcome,
    Seed,
    Variation,
    Verdict,
)
from aiayn.scoring.references import read_hypotheses, read_references
from aiayn.scoring.sentences import paired_by_seed
from aiayn.scoring.significance import LEVEL, Difference, contrast, holm

SPLIT = "dev"  # section 6.2
DECIMALS = 4
P_DECIMALS = 6

Samples = Mapping[str, Sequence[float]]


def compare_variations(config: Config, root: Path = Path()) -> Comparison:
    """Every model that learned `variations.task`, over its seeds.

    For the test over sentences, each run is paired with the base's run of the same seed, or with
    its first run.

    Raises:
        ScoreError: the base has no run, or hypotheses are missing or damaged.
        DataError: a history or the manifest is.
    """
    task, base = config.variations.task, config.variations.base
    runs = {name: run for name, run in config.runs.items() if run.task == task}
    folder = root / places.text(task)
    references = read_references(folder, SPLIT)
    hypotheses = {
        name: read_hypotheses(places.hypotheses(root / places.outputs(name), SPLIT), references)
        for name in runs
    }
    bases = _by_seed(runs, base)
    if not bases:
        raise ScoreError(
            f"params.yaml: variations.base is {base}, but no run learns {task} with it. "
            f"Add it to runs: {task}.{base}: {{task: {task}, model: {base}, seed: 1}}."
        )
    signature, found = paired_by_seed(
        runs, bases, hypotheses, references.sentences, references.form
    )
    seeds = {
        model: {
            str(seed): Seed(
                run=name,
                perplexity=_last_perplexity(root / places.history(name)),
                bleu=found[name].bleu,
                sentences=found[name].sentences,
            )
            for seed, name in _by_seed(runs, model).items()
        }
        for model in dict.fromkeys(run.model for run in runs.values())
    }
    samples = {
        "bleu": {model: [seed.bleu for seed in held.values()] for model, held in seeds.items()},
        "perplexity": {
            model: [seed.perplexity for seed in held.values()] for model, held in seeds.items()
        },
    }
    measures = judge(samples, base)
    return Comparison(
        task=task,
        base=base,
        split=SPLIT,
        test_set=references.test_set,
        signature=signature,
        models={
            model: Variation(
                perplexity=measures["perplexity"][model], bleu=measures["bleu"][model], seeds=held
            )
            for model, held in seeds.items()
        },
        findings=judge_findings(samples, base),
    )


def _by_seed(runs: Mapping[str, Run], model: str) -> dict[int, str]:
    """A model's runs by seed; of two that do the same, the first."""
    names: dict[int, str] = {}
    for name, run in runs.items():
        if run.model == model:
            names.setdefault(run.seed, name)
    return names


def _last_perplexity(path: Path) -> float:
    return round(history.last_perplexity(history.read(path), path), DECIMALS)


class Scale(NamedTuple):
    """On which scale a measure is judged, what the paper says of a row there, and how near to the
    base's is "equal"."""

    forward: Callable[[float], float]
    back: Callable[[float], float]
    claim: Callable[[str], Direction | None]
    margin: float


SCALES = {
    "bleu": Scale(float, float, claims.bleu_claim, claims.MARGIN_BLEU),
    "perplexity": Scale(math.log, math.exp, claims.perplexity_claim, claims.MARGIN_LOG_PERPLEXITY),
}


class _Test(NamedTuple):
    name: str
    measure: str
    difference: Difference
    outcome: Outcome  # what it says if it is significant
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


def judge(samples: Mapping[str, Samples], base: str) -> dict[str, dict[str, Measure]]:
    """Every model beside the base, by measure and model.

    All tests of the table are one family. A claim of equality brings two: that the row is within
    the margin, and that it is beyond it. Any other row brings one, two-sided: that it is not the
    base's.

    Args:
        samples: "bleu" and "perplexity" over the seeds, by model.
    """
    tests = [
        test
        for measure, models in samples.items()
        for model in models
        if model != base
        for test in _tests(model, measure, models, base)
    ]
    effects = _decided(tests)
    return {
        measure: {
            model: _measure(
                values,
                None if model == base else _claim(measure, model),
                *effects.get((measure, model), (None, "undecided")),
            )
            for model, values in models.items()
        }
        for measure, models in samples.items()
    }


def _claim(measure: str, model: str) -> Direction | None:
    """What the paper says of the row of this name; of the base, and of a row of ours, nothing."""
    return SCALES[measure].claim(model) if model in ROWS and model != "base" else None


def _tests(model: str, measure: str, models: Samples, base: str) -> Iterator[_Test]:
    return _tests_of(
        model, measure, {model: 1.0, base: -1.0}, models, base, _claim(measure, model) == "equal"
    )


def _tests_of(
    name: str,
    measure: str,
    weights: Mapping[str, float],
    models: Samples,
    base: str,
    equality: bool,
) -> Iterator[_Test]:
    scale = SCALES[measure]
    samples = {
        model: [scale.forward(value) for value in models[model]] for model in {*weights, base}
    }
    found = contrast(weights, samples, base)
    if found is None:
        return
    away: Outcome = "higher" if found.value > 0 else "lower"
    if equality:
        yield _Test(name, measure, found, "equal", found.p_within(scale.margin))
        yield _Test(name, measure, found, away, found.p_beyond(scale.margin))
    else:
        yield _Test(name, measure, found, away, found.p_different())


def _decided(tests: Sequence[_Test]) -> dict[tuple[str, str], tuple[Effect, Outcome]]:
    """Of a family of tests, corrected for their number: by measure and name the nearer to being
    said, and what it says."""
    corrected = holm([test.p_value for test in tests])
    decided: dict[tuple[str, str], tuple[Effect, Outcome]] = {}
    for test, p_corrected in zip(tests, corrected, strict=True):
        place = (test.measure, test.name)
        if place not in decided or test.p_value < decided[place][0].p_value:
            outcome: Outcome = test.outcome if p_corrected < LEVEL else "undecided"
            decided[place] = test.effect(p_corrected), outcome
    return decided


def judge_findings(samples: Mapping[str, Samples], base: str) -> dict[str, Finding]:
    """The paper's statements, a family of their own, tested over our models.

    Args:
        samples: "bleu" and "perplexity" over the seeds, by model.
    """
    ours = {
        key: {base if row == "base" else row: weight for row, weight in statement.rows.items()}
        for key, statement in STATEMENTS.items()
    }
    run = {key for key, models in ours.items() if models.keys() <= samples["bleu"].keys()}
    decided = _decided(
        [
            test
            for key, statement in STATEMENTS.items()
            if key in run
            for test in _tests_of(
                key, statement.measure, ours[key], samples[statement.measure], base,
                statement.claim == "equal",
            )
        ]
    )  # fmt: skip
    findings: dict[str, Finding] = {}
    for key, statement in STATEMENTS.items():
        effect, outcome = decided.get((statement.measure, key), (None, "undecided"))
        verdict: Verdict = "not run at this scale"
        if key in run:
            verdict = "undecided"
            if outcome != "undecided":
                verdict = "holds" if outcome == statement.claim else "does not hold"
        findings[key] = Finding(verdict=verdict, effect=effect)
    return findings


def _measure(
    values: Sequence[float], claim: Direction | None, effect: Effect | None, outcome: Outcome
) -> Measure:
    return Measure(
        mean=round(mean(values), DECIMALS),
        sd=round(stdev(values), DECIMALS) if len(values) > 1 else None,
        effect=effect,
        claim=claim,
        outcome=outcome,
    )
