"""Table 3's rows compared with their base model: perplexity and BLEU over seeds, and whether they
differ by more than seed noise.

Models are compared by tests paired by seed (`contrasts`). The paper's "nearly identical" is a claim
of equality and is tested for equivalence. Perplexity is tested on a log scale. All tests of the
table are one family, and the paper's statements (`findings`) are another. Rows are also compared
by metrics that the paper does not have (`Metric.compared`): a family of its own, so that a further
metric changes no p-value of the paper's two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from aiayn.config import Run, Variations
from aiayn.errors import ScoreError
from aiayn.evaluation.contrasts import (
    DECIMALS,
    Decision,
    Design,
    Samples,
    between_models,
    decide,
    samples_by_measure,
    scale_of,
)
from aiayn.evaluation.findings import judge_findings, over_seeds
from aiayn.evaluation.metric import score_by_name
from aiayn.evaluation.sentences import (
    Resampled,
    compared_outputs,
    compared_sentences,
    corpus_bleu,
    joined,
    paired_bootstrap,
    resample,
    signature,
)
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS, Translations
from aiayn.paper.table_3 import ROWS
from aiayn.results import history, paths
from aiayn.results.comparison import Comparison, DecodingModes, Direction, Measure, Seed, Variation
from aiayn.results.scores import TestSet
from aiayn.results.seeds import by_seed, spread
from aiayn.results.sentence_counts import Counts, Output
from aiayn.results.text import Manifest, read_manifest

FurtherScores = Mapping[str, Mapping[str, float]]
"""By run and metric: see `further_scores`."""


def further_scores(
    variations: Variations, runs: Mapping[str, Run], root: Path = Path()
) -> FurtherScores:
    """The compared runs' scores by every metric with `compared`, on the sentences of table 3.

    Raises:
        DataError, ScoreError: references or hypotheses are missing or damaged.
    """
    metrics = [metric for metric in TRANSLATION_METRICS if metric.compared]
    found: dict[str, Mapping[str, float]] = {}
    for name, run in runs.items():
        if metrics and run.task == variations.task and (root / paths.outputs(name)).exists():
            text = root / paths.text(run.task)
            manifest = read_manifest(paths.manifest(text))
            hypotheses, references = compared_sentences(variations, name, text, root)
            language = manifest.languages["target"]
            translations = Translations(hypotheses, references, language, manifest.form)
            scores = score_by_name(metrics, translations)
            found[name] = {key: round(score.value, DECIMALS) for key, score in scores.items()}
    return found


def compare_variations(
    variations: Variations,
    runs: Mapping[str, Run],
    counts: Mapping[Output, Counts],
    further: FurtherScores,
    root: Path = Path(),
) -> Comparison:
    """Compare every model trained on `variations.task` with the base, from counts, histories and
    further scores.

    Raises:
        ScoreError: the base has no run with counts, or counts of a run are missing.
        DataError: a history or the manifest is missing.
    """
    task, base = variations.task, variations.base
    counted = _that_count(variations, runs)
    models = _runs_by_seed(variations, counted, {output.run for output in counts})
    if base not in models:
        raise ScoreError(
            f"params.yaml: variations.base is {base}, but no run of it on {task} has been decoded. "
            "Decode one: dvc repro decode@RUN"
        )
    manifests = {
        name: read_manifest(root / paths.manifest(paths.text(name)))
        for name in dict.fromkeys((task, *(runs[output.run].task for output in counts)))
    }
    form = manifests[task].form
    splits = [output.split for output in compared_outputs(variations, "")]
    compared = {
        name: resample(joined(variations, name, counts), form)
        for names in models.values()
        for name in names.values()
    }
    seeds = {
        model: {
            seed: _seed(
                name,
                compared,
                _partner(models[base], seed),
                further.get(name, {}),
                root,
                is_base=model == base,
            )
            for seed, name in names.items()
        }
        for model, names in models.items()
    }
    samples = samples_by_measure(seeds)
    design = Design.of(variations)
    measures = judge(samples, base, design)
    own = judge(_further_samples(seeds), base, design)
    modes = _bleu_by_mode(counted, counts, manifests)
    declared = variations.preregistration
    return Comparison(
        task=task,
        base=base,
        preregistration=declared.commit if declared else None,
        split="+".join(splits),
        test_set=_test_set(manifests[task], splits),
        signature=signature(form),
        models={
            model: Variation(
                perplexity=measures["perplexity"][model],
                bleu=measures["bleu"][model],
                further={name: of_models[model] for name, of_models in own.items()},
                seeds={str(seed): entry for seed, entry in entries.items()},
            )
            for model, entries in seeds.items()
        },
        modes=modes,
        findings=judge_findings(variations, samples, over_seeds(runs, modes)),
    )


def _that_count(variations: Variations, runs: Mapping[str, Run]) -> Mapping[str, Run]:
    """All runs; with a preregistration, only those with the declared seeds, in their order."""
    declared = variations.preregistration
    if declared is None:
        return runs
    return {name: run for seed in declared.seeds for name, run in runs.items() if run.seed == seed}


def _runs_by_seed(
    variations: Variations, runs: Mapping[str, Run], scored: Set[str]
) -> dict[str, dict[int, str]]:
    """The task's runs with counts, by model and seed."""
    of_task = {
        name: run for name, run in runs.items() if run.task == variations.task and name in scored
    }
    return {model: names for (_, model), names in by_seed(of_task).items()}


def _partner(bases: Mapping[int, str], seed: int) -> str:
    """The base's run with the same seed, or its first run, for the test over sentences."""
    return bases.get(seed, next(iter(bases.values())))


def _further_samples(seeds: Mapping[str, Mapping[int, Seed]]) -> dict[str, Samples]:
    """By metric: the scores of all models by seed, of the metrics that every run has."""
    entries = [entry for of_model in seeds.values() for entry in of_model.values()]
    return {
        name: {
            model: {seed: entry.further[name] for seed, entry in of_model.items()}
            for model, of_model in seeds.items()
        }
        for name in entries[0].further
        if all(name in entry.further for entry in entries)
    }


def _seed(
    run: str,
    compared: Mapping[str, Resampled],
    partner: str,
    further: Mapping[str, float],
    root: Path,
    *,
    is_base: bool,
) -> Seed:
    path = root / paths.history(run)
    perplexity = history.last_perplexity(history.read(path), path)
    return Seed(
        run=run,
        perplexity=round(perplexity, DECIMALS),
        bleu=round(compared[run].bleu, DECIMALS),
        sentences=None if is_base else paired_bootstrap(compared[partner], compared[run]),
        further=further,
    )


def _bleu_by_mode(
    runs: Mapping[str, Run], counts: Mapping[Output, Counts], manifests: Mapping[str, Manifest]
) -> dict[str, DecodingModes]:
    """BLEU on dev by decoding mode, for every run with counts of all modes."""
    found: dict[str, DecodingModes] = {}
    for name, run in runs.items():
        outputs = {mode: Output(name, paths.DEV, mode) for mode in paths.DECODING_MODES}
        if counts.keys() >= {*outputs.values()}:
            form = manifests[run.task].form
            bleu = {mode: corpus_bleu(counts[output], form) for mode, output in outputs.items()}
            found[name] = DecodingModes(**{mode: round(b, DECIMALS) for mode, b in bleu.items()})
    return found


def _test_set(manifest: Manifest, splits: Sequence[str]) -> TestSet:
    """The identification of the scored sentences."""
    sets = [TestSet.of(manifest.splits[split]) for split in splits]
    if len(sets) == 1:
        return sets[0]
    named = dict(zip(splits, sets, strict=True))
    return TestSet(
        corpora={name: part for one in sets for name, part in one.corpora.items()},
        pairs=sum(one.pairs for one in sets),
        sha256={
            f"{split}.{side}": digest
            for split, one in named.items()
            for side, digest in one.sha256.items()
        },
    )


def judge(
    samples: Mapping[str, Samples], base: str, design: Design
) -> dict[str, dict[str, Measure]]:
    """Test every model against the base; all tests of the table are one family.

    Args:
        samples: by measure: "bleu" and "perplexity", or metrics that the paper does not have.
    Returns:
        By measure and model.
    """
    decisions = decide(
        {
            (measure, model): between_models(
                measure, {model: 1.0, base: -1.0}, models, design,
                equality=_claim(measure, model) == "equal",
            )
            for measure, models in samples.items()
            for model in models
            if model != base
        }
    )  # fmt: skip
    of_base = Decision(None, "undecided")
    return {
        measure: {
            model: _measure(
                list(values.values()),
                None if model == base else _claim(measure, model),
                decisions.get((measure, model), of_base),
            )
            for model, values in models.items()
        }
        for measure, models in samples.items()
    }


def _claim(measure: str, model: str) -> Direction | None:
    """The paper's claim about the row; None for the base and for rows that the paper lacks."""
    return scale_of(measure).claim(model) if model in ROWS and model != "base" else None


def _measure(values: Sequence[float], claim: Direction | None, decision: Decision) -> Measure:
    mean, sd, _ = spread(values)
    return Measure(
        mean=round(mean, DECIMALS),
        sd=None if sd is None else round(sd, DECIMALS),
        effect=decision.effect,
        claim=claim,
        outcome=decision.outcome,
        why_not_tested=decision.why,
    )
