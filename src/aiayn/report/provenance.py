"""Where each number of ours comes from: the run, its model, its sentences, and how to redo it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from aiayn.config import Config
from aiayn.report.comparison import Comparison, Scores
from aiayn.report.results import ScoredSplit


@dataclass(frozen=True)
class Provenance:
    """One run as the page accounts for it.

    `model` and `recipe` are parameters by name; `departures` tell why table 2 does not judge the
    run, if it has a cell there at all.
    """

    run: str
    task: str
    model_name: str
    seed: int
    model: Mapping[str, object]
    recipe: Mapping[str, object]
    training_corpora: tuple[str, ...]
    splits: Mapping[str, ScoredSplit]
    departures: tuple[str, ...]
    command: str


def provenance(
    config: Config, scores: Scores, comparisons: tuple[Comparison, ...]
) -> Iterator[Provenance]:
    """Of every run, in the order of params.yaml; a run without scores has no splits."""
    departures = {item.run: item.judgement.reasons for item in comparisons}
    for name, splits in scores.items():
        run, model = config.run(name), config.model_of(name)
        task = config.task(run.task)
        yield Provenance(
            run=name,
            task=run.task,
            model_name=run.model,
            seed=run.seed,
            model={**asdict(model), "d_k": model.key_width, "d_v": model.value_width},
            recipe={
                "batch_tokens": config.training.batch_tokens,
                "warmup_steps": config.training.warmup_steps,
                "BPE pieces": task.bpe.vocabulary,
                "beam": task.decoding.beam,
                "alpha": task.decoding.alpha,
            },
            training_corpora=task.text.train,
            splits=splits or {},
            departures=departures.get(name, ()),
            command=f"dvc repro score@{name}",
        )
