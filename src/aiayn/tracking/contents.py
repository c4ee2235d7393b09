"""What the mirror writes to an MLflow run: a run's files and the parameters, in MLflow's terms."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from aiayn.config import Config
from aiayn.evaluation.metrics import METRICS
from aiayn.paper import PAPER
from aiayn.paper.claims import agreement
from aiayn.results import comparison, history, paths, scores
from aiayn.results.comparison import Comparison, Variation
from aiayn.results.json_files import if_there, plain
from aiayn.results.lock import Lock
from aiayn.results.machine_metadata import UNKNOWN_COMMIT
from aiayn.results.metadata import (
    DecodingMetadata,
    TrainingMetadata,
    read_decode,
    training_of,
)
from aiayn.results.profiles import ModelsProfile, read_models
from aiayn.results.seeds import spread
from aiayn.results.text import Manifest, read_lines, read_manifest
from aiayn.tracking.identity import RunIdentity, metric_name, run_params
from aiayn.tracking.registry import Weights, weights_of

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

SAMPLES = 20  # sentences of each set
SAMPLE_COLUMNS = ("source", "reference", "hypothesis")
REPORT = "report"
SEEDS = "seeds"  # the tag `stage` of a parent of seeds
REPORT_FILES = ("index.html", "figures/*.svg", "tables/*")
LARGEST_FILE = 4 << 20  # bytes; larger ones are not uploaded

_OF_THE_ROW = ("tested", "row", "group")  # tags, beside those of agreement with the paper
_VS_BASE = "_vs_base"
_DATASET_CONTEXTS = {paths.TRAIN: "training", paths.DEV: "validation"}
_DIGEST_CHARACTERS = 36  # MLflow's limit; DVC's digest of a folder just fits


@dataclass(frozen=True, kw_only=True)
class RunContents:
    """All that an MLflow run holds.

    `curve` has metrics by name and step; `metrics` those with one value for the run; `files` the
    artifacts by path; `weights` the model that the run made. Times are Unix milliseconds.
    """

    identity: RunIdentity
    tags: Mapping[str, str]
    params: Mapping[str, str] = field(default_factory=dict)
    curve: Mapping[tuple[str, int], float] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    datasets: Sequence[DatasetInput] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    weights: Weights | None = None
    started_ms: int | None = None
    ended_ms: int | None = None

    def digest(self) -> str:
        """The same for the same contents."""
        contents = {
            "tags": {**self.identity.tags(), **self.tags},
            "params": self.params,
            "curve": [[*key, value] for key, value in self.curve.items()],
            "metrics": self.metrics,
            "datasets": [item.to_dictionary() for item in self.datasets],
            "files": {path: _sha256(text) for path, text in self.files.items()},
            "weights": self.weights and self.weights._asdict(),
            "times": [self.started_ms, self.ended_ms],
        }
        return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()


class Project:
    """The files of one scale, below `root`.

    Raises:
        DataError, ScoreError, ProfileError: a file is damaged.
    """

    def __init__(self, config: Config, root: Path) -> None:
        self._config = config
        self._root = root
        self.lock = Lock(root / paths.LOCK)
        self._profile: ModelsProfile | None = if_there(read_models, root / paths.MODELS_PROFILE)
        self._table_3: Comparison | None = if_there(comparison.read, root / paths.TABLE_3)

    def is_trained(self, run: str) -> bool:
        """Whether there is a training curve to mirror."""
        return (self._root / paths.history(run)).exists()

    def run(self, run: str) -> RunContents:
        """The contents of the MLflow run for a trained `run`.

        Raises:
            DataError, ScoreError: a file is damaged.
        """
        config, root = self._config, self._root
        task, model = config.run(run).task, config.run(run).model
        path = root / paths.history(run)
        curve = history.read(path)
        training = training_of(root, run)
        decoding = if_there(read_decode, root / paths.decoding_metadata(run))
        scored = if_there(scores.read, root / paths.scores(run))
        manifest = if_there(read_manifest, paths.manifest(root / paths.text(task)))
        started = datetime.fromisoformat(training.started).timestamp() if training else 0.0
        identity = RunIdentity(
            scale=config.scale, run=run, task=task, model=model,
            # without its metadata, a training is identified by its curve
            fingerprint=training.fingerprint if training else _sha256(path.read_text()),
        )  # fmt: skip
        datasets = _datasets(task, manifest, self.lock.out(paths.text(task).as_posix()))
        weights = weights_of(config, run, self.lock, datasets, curve)
        row = self._row_of_table_3(identity)
        return RunContents(
            identity=identity,
            params=run_params(config, run),
            tags={
                "stage": "score" if scored else "decode" if decoding else "train",
                **_rows_in_the_paper(config, run),
                **_metadata_tags(training),
                **({"weights.md5": weights.md5} if weights else {}),
                **(_agreement_tags(row) if row else {}),
            },
            curve={
                (metric_name(column), line.step): float(value)
                for line in curve.lines
                for column, value in plain(line).items()
                if column != "step"
            },
            metrics={
                **{
                    f"{split}/{metric}": score.value
                    for split, scored_split in (scored.splits if scored else {}).items()
                    for metric, score in scored_split.scores.items()
                },
                **dict(_work_metrics(training, decoding)),
                **dict(self._cost_metrics(identity)),
                **(dict(self._table_3_metrics(run, row)) if row else {}),
            },
            datasets=datasets,
            files=self._run_files(run, task, training is not None),
            weights=weights,
            started_ms=int(started * 1000) if training else None,
            ended_ms=int((started + training.seconds) * 1000) if training else None,
        )

    def over_seeds(self, runs: Sequence[RunContents]) -> RunContents:
        """The contents of the MLflow run for runs that differ in the seed alone: the mean and the
        standard deviation of every score that all of them have."""
        first = runs[0]
        final = [
            {**{name: value for (name, _), value in run.curve.items()}, **run.metrics}
            for run in runs
        ]
        names = {metric.name for metrics in METRICS.values() for metric in metrics} | {"perplexity"}
        metrics: dict[str, float] = {}
        for name in final[0]:
            if name.partition("/")[2] in names and all(name in values for values in final):
                over = spread(values[name] for values in final)
                metrics |= {name: round(over.mean, 4), f"{name}_sd": round(over.sd or 0.0, 4)}
            elif name == "work/parameters":
                metrics[name] = final[0][name]
        metrics["work/seeds"] = float(len(runs))
        seeds = [run.params["seed"] for run in runs]
        task, model = first.identity.task, first.identity.model
        return RunContents(
            identity=RunIdentity(
                scale=self._config.scale, run=f"{task}.{model} over seeds", task=task, model=model,
                fingerprint=_sha256(" ".join(run.identity.fingerprint for run in runs)),
            ),
            tags={
                "stage": SEEDS,
                **{
                    key: value
                    for key, value in first.tags.items()
                    if key in _OF_THE_ROW or key.endswith(_VS_BASE)
                },
            },
            params={
                **{key: value for key, value in first.params.items() if key != "seed"},
                "seed": ", ".join(seeds),
            },
            metrics=metrics,
            started_ms=min((run.started_ms for run in runs if run.started_ms), default=None),
            ended_ms=max((run.ended_ms for run in runs if run.ended_ms), default=None),
        )  # fmt: skip

    def report(self) -> RunContents | None:
        """The contents of the run with the page, figures and tables; None before that stage ran."""
        reports = self._root / paths.REPORTS
        found = itertools.chain.from_iterable(sorted(reports.glob(p)) for p in REPORT_FILES)
        files = {
            path.relative_to(reports).as_posix(): path.read_text(encoding="utf-8")
            for path in found
            if path.stat().st_size <= LARGEST_FILE
        }
        identity = RunIdentity(scale=self._config.scale, run=REPORT, fingerprint=REPORT)
        tags = {"stage": "report"}
        return RunContents(identity=identity, tags=tags, files=files) if files else None

    def _run_files(self, run: str, task: str, has_metadata: bool) -> dict[str, str]:
        """Of `run`, by artifact path: sample outputs, scores with intervals and signatures, where
        and with what it was made, and DVC's digests."""
        files, text = {}, self._root / paths.text(task)
        pattern = paths.hypotheses(paths.outputs(run), "*").as_posix()
        for hypotheses in sorted(self._root.glob(pattern)):
            sides = (paths.lines(text, hypotheses.stem, side) for side in paths.SIDES)
            columns = dict(zip(SAMPLE_COLUMNS, (*sides, hypotheses), strict=True))
            if all(path.exists() for path in columns.values()):
                table = pd.DataFrame({k: read_lines(p)[:SAMPLES] for k, p in columns.items()})
                files[f"samples/{hypotheses.stem}.csv"] = table.to_csv(index=False)
        attached = {
            "scores.json": paths.scores(run),
            "decoding.json": paths.decoding_metadata(run),
            **({"training.json": paths.training_metadata(run)} if has_metadata else {}),
        }
        for name, path in attached.items():
            if (self._root / path).exists():
                files[name] = (self._root / path).read_text(encoding="utf-8")
        if digests := self.lock.digests(run, task):
            files["dvc_digests.json"] = json.dumps(digests, indent=2)
        return files

    def _cost_metrics(self, identity: RunIdentity) -> Iterator[tuple[str, float]]:
        """The model's parameters, and FLOPs for a sentence pair of the profile's length."""
        models = self._profile.models if self._profile else {}
        cost = models.get(identity.model, {}).get(identity.task)
        if cost:
            yield "work/parameters", float(cost.parameters)
            yield "work/pair_flops_forward", float(cost.pair_flops.forward)
            yield "work/pair_flops_training", float(cost.pair_flops.training)

    def _row_of_table_3(self, identity: RunIdentity) -> Variation | None:
        """The run's row in the comparison of table 3; None for its base."""
        table = self._table_3
        if not table or identity.task != table.task or identity.model == table.base:
            return None
        return table.models.get(identity.model)

    def _table_3_metrics(self, run: str, row: Variation) -> Iterator[tuple[str, float]]:
        """The row compared to table 3's base, over seeds, with corrected p-values, and the run's
        own p-value of sacreBLEU's paired bootstrap test."""
        assert self._table_3
        for measure, compared in row.measures.items():
            name = f"{measure}_{'ratio' if measure == 'perplexity' else 'difference'}"
            if effect := compared.effect:
                yield f"table_3/{name}", effect.value
                yield f"table_3/{name}_p", effect.corrected
        for seed in row.seeds.values():
            if seed.run == run and seed.sentences:
                yield "table_3/bleu_sentences_p", seed.sentences.p_value


def _rows_in_the_paper(config: Config, run: str) -> dict[str, str]:
    """Whether the run is tested, and its row and group (C) of table 3."""
    tags = {"tested": str(run in config.tested).lower()}
    if config.run(run).task != config.variations.task:
        return tags
    rows = {row: row for row in PAPER.table_3 if row != "base"} | {config.variations.base: "base"}
    row = rows.get(config.run(run).model)
    if row:
        tags["row"] = row
        group, _, variation = row.partition("_")
        if variation:
            tags["group"] = group
    return tags


def _agreement_tags(row: Variation) -> dict[str, str]:
    """Whether the row differs from table 3's base as the paper says."""
    return {f"{name}{_VS_BASE}": agreement(m.claim, m.outcome) for name, m in row.measures.items()}


def _metadata_tags(training: TrainingMetadata | None) -> dict[str, str]:
    """Where the run was trained, and by which commit."""
    if training is None:
        return {}
    tags = {"host": training.host, "device": training.device}
    if training.commit != UNKNOWN_COMMIT:  # as git describe --dirty writes it
        tags["commit"] = training.commit.removesuffix("-dirty")
        tags["dirty"] = str(tags["commit"] != training.commit).lower()
    return tags


def _work_metrics(
    training: TrainingMetadata | None, decoding: DecodingMetadata | None
) -> Iterator[tuple[str, float]]:
    """Time, speed and memory. MLflow sorts groups by name, so `work` comes after the scores."""
    if training:
        yield "work/training_seconds", training.seconds
        yield "work/training_tokens_per_second", float(training.tokens_per_second)
        if training.peak_rss_bytes:
            yield "work/training_peak_rss_bytes", float(training.peak_rss_bytes)
    if decoding:
        yield "work/decoding_sentences_per_second", decoding.sentences_per_second


def _datasets(task: str, manifest: Manifest | None, dvc_digest: str | None) -> list[DatasetInput]:
    """The splits of a task as MLflow's datasets: name en-de/train, context training.

    Args:
        manifest: of the task's text, if that is here.
        dvc_digest: of the text's folder, from dvc.lock. Without it, the split's own sha256 is used,
            cut to MLflow's 36 characters.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag

    inputs = []
    for name, split in manifest.splits.items() if manifest else ():
        uri = paths.lines(paths.text(task), name, "source").as_posix()
        dataset = Dataset(
            name=f"{task}/{name}",
            digest=(dvc_digest or split.sha256["source"])[:_DIGEST_CHARACTERS],
            source_type="local",
            source=json.dumps({"uri": uri}),
            profile=json.dumps(plain(split)),
        )
        # the key that MLflow documents for mlflow.log_input(context=...)
        context = InputTag("mlflow.data.context", _DATASET_CONTEXTS.get(name, "test"))
        inputs.append(DatasetInput(dataset, [context]))
    return inputs


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
