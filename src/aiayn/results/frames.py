"""A scale's results as pandas DataFrames, the source of tables, figures and notebooks.

    from aiayn.results.frames import Results

    results = Results()  # in the folder with params.yaml, or Results(Path("scales/copy"))
    results.scores.query("split == 'test' and metric == 'bleu'")
    over_seeds(results.scores)

Every frame has exactly the columns of its schema, in that order and of those types, even without
rows; `aiayn.results.schemas.SCHEMAS` describes the columns and their units. Rows are in the order
of params.yaml and, below that, of the files. What has not been run has no rows. `scores_frame` and
so on make the same frames from records.

The column `source` says where a number was read: FILE:KEY.KEY, as `Score.source`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from aiayn import config
from aiayn.config import Config
from aiayn.results import comparison, history, paths, profiles, scores
from aiayn.results.comparison import Comparison, Effect
from aiayn.results.history import History
from aiayn.results.json_files import if_there
from aiayn.results.metadata import training_of
from aiayn.results.profiles import Fitted, LayersProfile, ModelCost, ModelsProfile
from aiayn.results.schemas import SCHEMAS, make_frame
from aiayn.results.scores import SplitScores
from aiayn.results.seeds import spread


class Results:
    """A scale's results so far; each frame is read on first use.

    Args:
        root: the scale's folder, with its params.yaml.
    Raises:
        ConfigError: params.yaml is missing or wrong. Reading a frame raises ScoreError, DataError
            or ProfileError if a file exists but is invalid.
    """

    def __init__(self, root: Path = Path()) -> None:
        self.root = root
        self.config = config.load(root / config.PARAMS)

    @cached_property
    def runs(self) -> pd.DataFrame:
        """Every run of params.yaml, trained or not."""

        def row(run: str) -> dict[str, Any]:
            curve, training = self._histories.get(run), training_of(self.root, run)
            metadata = ("seconds", "tokens_per_second", "processes", "device")
            return {
                **_run(self.config, run),
                "tested": run in self.config.tested,
                "tokens": curve.lines[-1].tokens if curve and curve.lines else None,
                **(training.model_dump(include={*metadata}) if training else {}),
            }

        return make_frame(SCHEMAS["runs"], map(row, self.config.runs))

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row for each metric on each split of each run."""
        found = {
            run: if_there(scores.read, self.root / paths.scores(run)) for run in self.config.runs
        }
        return scores_frame(self.config, {run: file.splits for run, file in found.items() if file})

    @cached_property
    def histories(self) -> pd.DataFrame:
        """A row for each recorded step of each training."""
        return histories_frame(self._histories)

    @cached_property
    def models(self) -> pd.DataFrame:
        """Parameters and FLOPs of our models, then of the paper's."""
        return models_frame(if_there(profiles.read_models, self.root / paths.MODELS_PROFILE))

    @cached_property
    def layers(self) -> pd.DataFrame:
        """Table 1, measured: exponents and lines, then every count and path length."""
        return layers_frame(if_there(profiles.read_layers, self.root / paths.LAYERS_PROFILE))

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """Table 3's variations compared with their base, over seeds: a row for each measure."""
        return comparisons_frame(self._compared)

    @cached_property
    def findings(self) -> pd.DataFrame:
        """The paper's statements, tested."""
        return make_frame(
            SCHEMAS["findings"],
            (
                {
                    "finding": key,
                    "verdict": finding.verdict,
                    **_effect(finding.effect),
                    "source": finding.effect.source if finding.effect else None,
                }
                for key, finding in (self._compared.findings if self._compared else {}).items()
            ),
        )

    @cached_property
    def _histories(self) -> dict[str, History]:
        found = {
            run: if_there(history.read, self.root / paths.history(run)) for run in self.config.runs
        }
        return {run: curve for run, curve in found.items() if curve}

    @cached_property
    def _compared(self) -> Comparison | None:
        return if_there(comparison.read, self.root / paths.TABLE_3)


def scores_frame(
    config: Config, scored: Mapping[str, Mapping[str, SplitScores] | None]
) -> pd.DataFrame:
    """See SCHEMAS["scores"].

    Args:
        scored: each run's scores by split; None for a run that was not scored.
    """
    return make_frame(
        SCHEMAS["scores"],
        (
            {
                **_run(config, run),
                "split": split,
                "test_set": "+".join(scored_split.test_set.corpora),
                "pairs": scored_split.test_set.pairs,
                "digests": " ".join(f"{k}:{v}" for k, v in scored_split.test_set.sha256.items()),
                "metric": metric,
                **vars(score),
            }
            for run, splits in scored.items()
            for split, scored_split in (splits or {}).items()
            for metric, score in scored_split.scores.items()
        ),
    )


def histories_frame(histories: Mapping[str, History]) -> pd.DataFrame:
    """See SCHEMAS["histories"]."""
    return make_frame(
        SCHEMAS["histories"],
        ({"run": run, **vars(line)} for run, curve in histories.items() for line in curve.lines),
    )


def models_frame(profile: ModelsProfile | None) -> pd.DataFrame:
    """See SCHEMAS["models"]."""
    rows: list[tuple[str, str, str | None, ModelCost]] = []
    if profile:
        rows += [
            ("ours", model, task, cost)
            for model, costs in profile.models.items()
            for task, cost in costs.items()
        ]
        rows += [("paper", row, None, cost) for row, cost in profile.paper.items()]
    return make_frame(
        SCHEMAS["models"],
        (
            {
                "origin": origin,
                "model": model,
                "task": task,
                "vocabulary": cost.vocabulary,
                "parameters": cost.parameters,
                "forward_flops_source": cost.forward_flops.source,
                "forward_flops_target": cost.forward_flops.target,
                "training_flops_source": cost.training_flops.source,
                "training_flops_target": cost.training_flops.target,
                "source": cost.source,
            }
            for origin, model, task, cost in rows
        ),
    )


def layers_frame(profile: LayersProfile | None) -> pd.DataFrame:
    """See SCHEMAS["layers"]."""
    return make_frame(SCHEMAS["layers"], _layer_rows(profile) if profile else ())


def _layer_rows(profile: LayersProfile) -> Iterator[dict[str, Any]]:
    def fit(layer: str, quantity: str, size: str, found: Fitted) -> dict[str, Any]:
        return {"layer": layer, "quantity": quantity, "size": size, **vars(found)}

    for layer, counts in profile.counts.items():
        for size, exponent in counts.exponents.items():
            for part, found in (("term", exponent.term), ("layer", exponent.layer)):
                row = fit(layer, f"exponent_of_{part}_flops", size, found)
                yield row | {"paper": counts.paper[size]}
    for layer, chain in profile.chains.items():
        yield fit(layer, "longest_chain_slope", "n", chain.slope)
        yield fit(layer, "longest_chain_intercept", "n", chain.intercept)
    for layer, growth in profile.paths.items():
        for size, found in growth.exponents.items():
            yield fit(layer, "exponent_of_path_length", size, found) | {"paper": growth.paper[size]}
    for layer, counts in profile.counts.items():
        for point in counts.points.values():
            sizes = {"n": point.n, "d": point.d, "k": point.k, "r": point.r}
            for part, flops in (("term", point.term), ("layer", point.layer)):
                yield {
                    "layer": layer, "quantity": f"{part}_flops", **sizes, "value": flops,
                    "source": f"{point.source}.{part}",
                }  # fmt: skip
    for layer, growth in profile.paths.items():
        for path in growth.points.values():
            yield {
                "layer": layer, "quantity": "path_length", "n": path.n, "k": path.k, "r": path.r,
                "value": path.layers, "source": f"{path.source}.layers",
            }  # fmt: skip


def comparisons_frame(compared: Comparison | None) -> pd.DataFrame:
    """See SCHEMAS["comparisons"]."""
    return make_frame(
        SCHEMAS["comparisons"],
        (
            {
                "model": model,
                "measure": name,
                "mean": measure.mean,
                "sd": measure.sd,
                "n": len(variation.seeds),
                **_effect(measure.effect),
                "claim": measure.claim,
                "outcome": measure.outcome,
                "source": measure.source,
            }
            for model, variation in (compared.models if compared else {}).items()
            for name, measure in variation.measures.items()
        ),
    )


def over_seeds(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean, sample standard deviation (missing for one seed) and number of seeds of every score.

    Args:
        scores: rows of SCHEMAS["scores"].
    Returns:
        columns task, model, split, metric, mean, sd, n; of several runs with the same task, model
        and seed, only the first counts.
    """
    group = ["task", "model", "split", "metric"]
    distinct = scores.drop_duplicates([*group, "seed"])
    rows = [
        dict(zip(group, key, strict=True)) | spread(values)._asdict()
        for key, values in distinct.groupby(group, sort=False)["value"]
    ]
    frame = pd.DataFrame(rows, columns=[*group, "mean", "sd", "n"])
    types = {name: SCHEMAS["scores"][name].dtype for name in group}
    return frame.astype(types | {"mean": "float64", "sd": "float64", "n": "int64"})


def _run(config: Config, name: str) -> dict[str, Any]:
    run = config.run(name)
    kind = config.task(run.task).kind
    return {"run": name, "task": run.task, "kind": kind, "model": run.model, "seed": run.seed}


def _effect(effect: Effect | None) -> dict[str, Any]:
    if effect is None:
        return {}
    return {
        "effect": effect.value,
        "low": effect.low,
        "high": effect.high,
        "p_value": effect.p_value,
        "p_corrected": effect.corrected,
    }
