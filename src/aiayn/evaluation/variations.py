"""Table 3's rows beside the model that they vary: perplexity and BLEU over seeds, and whether they
differ from the base's by more than the choice of the seed explains.

A row is judged by `significance.contrast`: one of a single seed by the spread of the base's seeds,
one of several by Welch's t. The paper's "nearly identical" is a claim of equality and is tested as
one. Perplexity is judged by its logarithm, the loss. p-values are corrected over all tests of the
table (Holm), and over the interim looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from aiayn.config import Run, Variations
from aiayn.errors import ScoreError
from aiayn.evaluation.contrasts import DECIMALS, SCALES, Question, Samples, between_models, decided
from aiayn.evaluation.findings import bleu_by_mode, judge_findings, over_seeds
from aiayn.evaluation.references import read_hypotheses, read_references
from aiayn.evaluation.sentences import paired_by_seed
from aiayn.paper.table_3 import ROWS
from aiayn.results import history, paths
from aiayn.results.comparison import (
    Comparison,
    Direction,
    Effect,
    Measure,
    Outcome,
    Seed,
    Variation,
)
from aiayn.results.seeds import by_seed, spread

SPLIT = "dev"  # section 6.2


def compare_variations(
    variations: Variations, runs: Mapping[str, Run], root: Path = Path()
) -> Comparison:
    """Every model that learned `variations.task`, over its seeds.

    For the test over sentences, each run is paired with the base's run of the same seed, or with
    its first run.

    Raises:
        ScoreError: the base has no run, or hypotheses are missing or damaged.
        DataError: a history or the manifest is.
    """
    task, base, looks = variations.task, variations.base, variations.looks
    modes = bleu_by_mode(runs, root)
    of_task = {name: run for name, run in runs.items() if run.task == task}
    models = {model: names for (_, model), names in by_seed(of_task).items()}
    if base not in models:
        raise ScoreError(
            f"params.yaml: variations.base is {base}, but no run learns {task} with it. "
            f"Add it to runs: {task}.{base}: {{task: {task}, model: {base}, seed: 1}}."
        )
    references = read_references(root / paths.text(task), SPLIT)
    hypotheses = {
        name: read_hypotheses(paths.hypotheses(root / paths.outputs(name), SPLIT), references)
        for name in of_task
    }
    signature, scored = paired_by_seed(
        of_task, models[base], hypotheses, references.sentences, references.form
    )
    seeds = {
        model: {
            str(seed): Seed(
                run=name,
                perplexity=_last_perplexity(root / paths.history(name)),
                bleu=scored[name].bleu,
                sentences=scored[name].sentences,
            )
            for seed, name in names.items()
        }
        for model, names in models.items()
    }
    samples = {
        measure: {
            model: [getattr(seed, measure) for seed in of_model.values()]
            for model, of_model in seeds.items()
        }
        for measure in ("bleu", "perplexity")
    }
    measures = judge(samples, base, looks)
    return Comparison(
        task=task,
        base=base,
        split=SPLIT,
        test_set=references.test_set,
        signature=signature,
        models={
            model: Variation(
                perplexity=measures["perplexity"][model],
                bleu=measures["bleu"][model],
                seeds=seeds[model],
            )
            for model in models
        },
        modes=modes,
        findings=judge_findings(samples, base, over_seeds(runs, modes), looks),
    )


def _last_perplexity(path: Path) -> float:
    return round(history.last_perplexity(history.read(path), path), DECIMALS)


def judge(
    samples: Mapping[str, Samples], base: str, looks: int | None = None
) -> dict[str, dict[str, Measure]]:
    """Every model beside the base, by measure and model.

    All tests of the table are one family; a claim of equality brings two, any other row one.

    Args:
        samples: "bleu" and "perplexity" over the seeds, by model.
        looks: as of config.Variations.
    """
    tests = [
        test
        for measure, models in samples.items()
        for model in models
        if model != base
        for test in _tests(model, measure, models, base)
    ]
    effects = decided(tests, looks)
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


def _tests(model: str, measure: str, models: Samples, base: str) -> Iterator[Question]:
    return between_models(
        model, measure, {model: 1.0, base: -1.0}, models, base,
        equality=_claim(measure, model) == "equal",
    )  # fmt: skip


def _measure(
    values: Sequence[float], claim: Direction | None, effect: Effect | None, outcome: Outcome
) -> Measure:
    mean, sd, _ = spread(values)
    return Measure(
        mean=round(mean, DECIMALS),
        sd=None if sd is None else round(sd, DECIMALS),
        effect=effect,
        claim=claim,
        outcome=outcome,
    )
