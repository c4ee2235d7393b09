"""Table 3's rows beside the model that they vary: perplexity, BLEU, and whether BLEU differs by
more than another choice of sentences would make it (sacreBLEU's paired bootstrap test).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from sacrebleu import BLEU
from sacrebleu.significance import PairedTest, Result

from aiayn.config import Config, Run
from aiayn.errors import ScoreError
from aiayn.records.json_files import plain
from aiayn.records.scores import DECIMALS
from aiayn.scoring.bleu import RESAMPLES, seeded
from aiayn.scoring.references import read_hypotheses, read_references

SPLIT = "dev"  # section 6.2


def compare_variations(config: Config, root: Path = Path()) -> dict[str, Any]:
    """Every model that learned `variations.task`, over its seeds, as plain data for a file.

    Each run is paired with the base's run of the same seed, or with its first run. `mean` and, with
    more than one seed, `sd` are over a model's seeds; `p_value` is the chance that a difference at
    least as large comes from the choice of sentences alone.

    Raises:
        ScoreError: the base has no run, or a file is missing or damaged.
    """
    task, base = config.variations.task, config.variations.base
    runs = {name: run for name, run in config.runs.items() if run.task == task}
    references = read_references(root / "data/text" / task, SPLIT)
    hypotheses = {
        name: read_hypotheses(root / "outputs" / name / f"{SPLIT}.hypotheses", references)
        for name in runs
    }
    bases = _by_seed(runs, base)
    if not bases:
        raise ScoreError(
            f"params.yaml: variations.base is {base}, but no run learns {task} with it. "
            f"Add it to runs: {task}.{base}: {{task: {task}, model: {base}, seed: 1}}."
        )
    signature, found = paired_by_seed(runs, bases, hypotheses, references.sentences)
    models = {}
    for model in dict.fromkeys(run.model for run in runs.values()):
        seeds: dict[str, dict[str, Any]] = {
            str(seed): {
                "run": name,
                "perplexity": last_perplexity(root / "history" / f"{name}.csv"),
                **found[name],
            }
            for seed, name in _by_seed(runs, model).items()
        }
        models[model] = {
            "perplexity": _over([seed["perplexity"] for seed in seeds.values()]),
            "bleu": _over([seed["bleu"] for seed in seeds.values()]),
            "seeds": seeds,
        }
    return {
        "task": task,
        "base": base,
        "split": SPLIT,
        "set": plain(references.test_set),
        "signature": signature,
        "models": models,
    }


def _by_seed(runs: Mapping[str, Run], model: str) -> dict[int, str]:
    """A model's runs by seed; of two that do the same, the first."""
    names: dict[int, str] = {}
    for name, run in runs.items():
        if run.model == model:
            names.setdefault(run.seed, name)
    return names


def paired_by_seed(
    runs: Mapping[str, Run],
    bases: Mapping[int, str],
    hypotheses: Mapping[str, Sequence[str]],
    references: Sequence[str],
) -> tuple[str, dict[str, dict[str, float]]]:
    """`paired`, of every run against that of `bases` with its seed, or else against the first."""
    first = next(iter(bases.values()))
    signature = ""
    found: dict[str, dict[str, float]] = {}
    for base in bases.values():
        others = [
            name
            for name, run in runs.items()
            if name not in bases.values() and bases.get(run.seed, first) == base
        ]
        signature, scores = paired(base, others, hypotheses, references)
        found |= scores
    return signature, found


def paired(
    base: str,
    others: Sequence[str],
    hypotheses: Mapping[str, Sequence[str]],
    references: Sequence[str],
) -> tuple[str, dict[str, dict[str, float]]]:
    """sacreBLEU's paired bootstrap test of each of `others` against `base`.

    Returns:
        The signature, and by system its `bleu`, and, for all but the base, `difference` (its BLEU
        less the base's) and `p_value`.
    """
    if not others:
        metric = BLEU()
        score = metric.corpus_score(list(hypotheses[base]), [list(references)]).score
        return str(metric.get_signature()), {base: {"bleu": round(score, DECIMALS)}}
    systems: list[tuple[str, Sequence[str]]] = [
        (name, list(hypotheses[name])) for name in (base, *others)
    ]
    with seeded():
        signatures, results = PairedTest(
            systems, {"BLEU": BLEU()}, [list(references)], test_type="bs", n_samples=RESAMPLES
        )()
    first, *rest = [result for result in results["BLEU"] if isinstance(result, Result)]
    found = {base: {"bleu": round(first.score, DECIMALS)}}
    for name, result in zip(others, rest, strict=True):
        found[name] = {
            "bleu": round(result.score, DECIMALS),
            "difference": round(result.score - first.score, DECIMALS),
            "p_value": round(result.p_value or 1.0, 4),
        }
    return str(signatures["BLEU"]), found


def last_perplexity(path: Path) -> float:
    """The dev perplexity of a run's last checkpoint, from its history.

    Raises:
        ScoreError: the file is missing or is not a history.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return float([row["dev_perplexity"] for row in csv.DictReader(file)][-1])
    except (OSError, KeyError, IndexError, ValueError, TypeError) as error:
        raise ScoreError(
            f"{path}: tells no last dev perplexity. Train again: dvc repro -f train@{path.stem}."
        ) from error


def _over(values: Sequence[float]) -> dict[str, float]:
    """Mean and, of more than one value, standard deviation."""
    spread = {"sd": round(stdev(values), 4)} if len(values) > 1 else {}
    return {"mean": round(mean(values), 4)} | spread
