"""Table 2 for programs: one figure a line, each with the sentences it was measured on."""

from __future__ import annotations

from collections.abc import Iterator

from aiayn.config import Config
from aiayn.paper import EvaluationSet, Paper
from aiayn.report.table_2.bleu_cells import Comparison, Scores
from aiayn.results.scores import Score, TestSet

FIELDS = (
    "origin", "model", "pair", "run", "split", "test_set", "pairs", "measure", "value", "low",
    "high", "difference", "verdict", "training_flops",
)  # fmt: skip


def records(
    paper: Paper, config: Config, scores: Scores, comparisons: tuple[Comparison, ...]
) -> list[dict[str, str]]:
    """Published figures, then ours, then the cells that were not run. Empty fields do not apply.

    `origin` is published (a competitor), paper (the Transformer, as printed) or ours. `verdict` and
    `difference` stand on the line that was judged.
    """
    lines = [*_published(paper), *_ours(config, scores, comparisons), *_missing(comparisons)]
    return [{field: line.get(field, "") for field in FIELDS} for line in lines]


def _published(paper: Paper) -> Iterator[dict[str, str]]:
    for printed in paper.table_2.values():
        for pair, bleu in printed.bleu.items():
            flops = printed.flops_of_both or printed.flops.get(pair)
            yield {
                "origin": "published" if printed.by else "paper",
                "model": printed.name,
                "pair": pair,
                "measure": "bleu_as_published",
                "value": bleu.text,
                "training_flops": flops.text if flops else "",
                **_set(paper.table_2_columns[pair].test_set),
            }


def _ours(
    config: Config, scores: Scores, comparisons: tuple[Comparison, ...]
) -> Iterator[dict[str, str]]:
    judged = {item.ours.source: item.judgement for item in comparisons if item.ours}
    for run, splits in scores.items():
        if config.task_of(run).kind != "translation":
            continue  # table 4's
        for split, scored in (splits or {}).items():
            for measure, score in scored.scores.items():
                judgement = judged.get(score.source)
                yield {
                    "origin": "ours",
                    "model": config.run(run).model,
                    "pair": config.run(run).task,
                    "run": run,
                    "split": split,
                    "measure": measure,
                    **_set(scored.test_set),
                    **_numbers(score),
                    **(
                        {
                            "verdict": judgement.verdict.value,
                            "difference": f"{judgement.difference:+.2f}",
                        }
                        if judgement
                        else {}
                    ),
                }


def _missing(comparisons: tuple[Comparison, ...]) -> Iterator[dict[str, str]]:
    for item in comparisons:
        if not item.judgement.judged:
            yield {
                "origin": "ours",
                "model": item.model_name,
                "pair": item.pair,
                "run": item.run,
                "verdict": item.judgement.verdict.value,
                **_set(item.column.test_set),
            }


def _set(evaluation_set: EvaluationSet | TestSet) -> dict[str, str]:
    return {"test_set": "+".join(evaluation_set.corpora), "pairs": str(evaluation_set.pairs)}


def _numbers(score: Score) -> dict[str, str]:
    numbers = {"value": score.value, "low": score.low, "high": score.high}
    return {name: f"{number:.2f}" for name, number in numbers.items() if number is not None}
