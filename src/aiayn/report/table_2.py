"""Table 2: BLEU and training cost, the paper's figures and ours."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS
from aiayn.paper import EvaluationSet
from aiayn.report.cells import our_cell, score_cell, score_records, scores_table
from aiayn.report.costs import counted_costs, rounded
from aiayn.report.evidence import Evidence, leading_runs
from aiayn.report.section import Section
from aiayn.report.tables import (
    NOTHING,
    Cell,
    RowValues,
    Table,
    numbers,
    power_of_ten,
    row,
    table,
    text,
)
from aiayn.report.verdict import TOLERANCE_BLEU, Entry, compare_with_paper
from aiayn.results import paths
from aiayn.results.frames import scores_frame

Costs = Mapping[str, float]
"""Counted training FLOPs by run; a run without a history has none."""

FIELDS = (
    "origin", "model", "pair", "run", "split", "test_set", "pairs", "measure", "value", "low",
    "high", "difference", "verdict", "training_flops",
)  # fmt: skip
COUNTED = (
    "Training FLOPs of ours are counted: the matrix products of forward and backward pass for "
    f"each source and target piece ({paths.MODELS_PROFILE}), times the target pieces trained on "
    f"({paths.HISTORIES}/), assuming as many source pieces. The paper's costs are hours × GPUs × "
    "an assumed rate, several times the count of the same training (see Parameters and FLOPs): "
    "compare ours with ours."
)
PROTOCOL = (
    "The paper's protocol: cased BLEU over Moses tokens as multi-bleu.perl counts it, with German "
    "compounds split as in the authors' script; for French the authors' script is not known, and "
    "plain Moses tokens are used. SacreBLEU (13a) is the figure to compare with later work; on "
    "newstest2014 EN-DE others saw it 0.7 to 1.5 lower for the same output (docs/wmt14.md). Each "
    "score is shown with its 95% bootstrap interval."
)
RULE = (
    f"Reproduced: at most {TOLERANCE_BLEU} BLEU from the printed value by the paper's protocol, on "
    "the paper's test set, by the paper's whole recipe: training corpora by their pairs and the "
    "checksums of their files, vocabulary, model, batches, learning rate, averaged checkpoints "
    "and search (src/aiayn/paper/recipe.py). Any departure is named and leaves the cell without a "
    "verdict. Late checkpoints of one training differ by about 0.3 BLEU, so a smaller tolerance "
    "would depend on luck; a wrong protocol moves a score by 0.7 or more, so a larger one would "
    "not detect it."
)
OTHER_SETS = (
    "In grey: scores of this scale on other sentences or by another recipe, with the paper's "
    "protocol. They are not comparable with the paper's."
)
MEASURED = "None is comparable with the paper unless a verdict above says so."
MULTI30K = (
    "Lower-cased BLEU, over normalised and lower-cased Moses tokens, is how figures on Multi30k "
    "are usually published."
)


def section(evidence: Evidence) -> Section:
    """Table 2 as a part of the report; its entries are the BLEU cells of the paper's models."""
    paper, entries = evidence.paper, bleu_entries(evidence)
    costs = counted_costs(evidence.config, evidence.models, evidence.histories)
    return Section(
        key="table_2",
        title="Table 2: translation",
        subtitle="BLEU on newstest2014 and training cost",
        lead=paper.about["table_2"],
        tables=(
            _as_printed(evidence, entries, costs),
            *scores_table(
                evidence,
                "translation",
                f"All translation scores at the scale {evidence.config.scale}",
                (MEASURED, MULTI30K, COUNTED),
                key="measured",
                further={"Training FLOPs": lambda run, _: _cost(costs.get(run))},
            ),
        ),
        records=_records(evidence, entries),
        entries=tuple(entries.values()),
    )


def bleu_entries(evidence: Evidence) -> dict[str, Entry]:
    """The BLEU cells of the paper's own models, row by row, by the run of ours for each."""
    entries = {}
    for key, printed in evidence.paper.table_2.items():
        for pair, recipe in printed.recipes.items():
            run, column = f"{pair}.{key}", evidence.paper.table_2_columns[pair]
            test = evidence.scored(run)
            ours = test.scores.get(column.protocol) if test else None
            entries[run] = compare_with_paper(
                evidence,
                f"{printed.name}, {column.heading} BLEU",
                printed.bleu[pair],
                ours.value if ours else None,
                score_cell(ours, run),
                run=run,
                split=paths.TEST,
                recipe=recipe,
                tolerance=TOLERANCE_BLEU,
            )
    return entries


def _as_printed(evidence: Evidence, entries: Mapping[str, Entry], costs: Costs) -> Table:
    paper = evidence.paper
    pairs, notes = paper.table_2_columns, paper.notes["table_2"]
    rows: list[RowValues] = []
    for key, printed in paper.table_2.items():
        origin = "published" if printed.by else "paper"
        bleu = [
            Cell(cell.text, mark="a" if f"{key}.bleu.{pair}" in notes else "") if cell else None
            for pair, cell in ((pair, printed.bleu.get(pair)) for pair in pairs)
        ]
        of_both = printed.flops_of_both
        of_each = [of_both] if of_both else [printed.flops.get(pair) for pair in pairs]
        flops = [power_of_ten(cell.text) if cell else None for cell in of_each]
        name = Cell(printed.name, detail=printed.by or "")
        block = key if printed.recipes else origin
        rows.append(row(name, *bleu, *flops, tone=origin, block=block))
        if printed.recipes and any(
            evidence.scores.get(run) or run in evidence.unfinished
            for run in (f"{pair}.{key}" for pair in pairs)
        ):
            rows.append(_our_row(key, evidence, entries, costs))
    rows += [_our_row(name, evidence, entries, costs) for name in _own_models(evidence)]
    headings = [column.heading for column in pairs.values()]
    return table(
        "Table 2",
        text("Model")
        + numbers(*(f"{name} BLEU" for name in headings), *(f"{name} FLOPs" for name in headings)),
        rows,
        (
            *(("a", note) for key, note in notes.items() if ".bleu." in key),
            OTHER_SETS,
            RULE,
            PROTOCOL,
            f"{paper.about['table_2']} Source of all published figures: {paper.source}.",
            notes["flops"],
            COUNTED,
        ),
        key="table-2",
    )


def _own_models(evidence: Evidence) -> list[str]:
    """Names of tested runs, as after "en-de.", that are none of the paper's models; at most LEADING
    of each pair."""
    names: dict[str, None] = {}
    for pair in evidence.paper.table_2_columns:
        if pair in evidence.config.tasks:
            runs = (run for run in leading_runs(evidence.config, pair) if evidence.scores.get(run))
            names |= {run.removeprefix(f"{pair}."): None for run in runs}
    return [name for name in names if name not in evidence.paper.table_2]


def _our_row(
    name: str, evidence: Evidence, entries: Mapping[str, Entry], costs: Costs
) -> RowValues:
    runs = {pair: f"{pair}.{name}" for pair in evidence.paper.table_2_columns}
    judged = {run: entry.ours for run, entry in entries.items()}
    return row(
        Cell("ours", detail=name),
        *(_our_bleu(pair, run, evidence, entries) for pair, run in runs.items()),
        # a cost is shown beside the paper's only where the training is the paper's
        *(_cost(costs.get(run) if judged.get(run) else None) for run in runs.values()),
        tone="ours",
        block=name,
    )


def _our_bleu(pair: str, run: str, evidence: Evidence, entries: Mapping[str, Entry]) -> Cell:
    protocol = evidence.paper.table_2_columns[pair].protocol
    metrics = sorted(TRANSLATION_METRICS, key=lambda metric: metric.name != protocol)
    return our_cell(evidence, entries.get(run), run, metrics)


def _cost(flops: float | None) -> Cell:
    return NOTHING if flops is None else Cell(rounded(flops))


def _records(evidence: Evidence, entries: Mapping[str, Entry]) -> pd.DataFrame:
    """Published figures, then ours, then the cells that were not run; fields are empty where they
    do not apply.

    `origin` is published (a competitor), paper (the Transformer, as printed) or ours.
    """
    paper = evidence.paper
    published = [
        {
            "origin": "published" if printed.by else "paper",
            "model": printed.name,
            "pair": pair,
            "measure": "bleu_as_published",
            "value": bleu.text,
            "training_flops": flops.text if flops else None,
            **_set(paper.table_2_columns[pair].test_set),
        }
        for printed in paper.table_2.values()
        for pair, bleu in printed.bleu.items()
        for flops in (printed.flops_of_both or printed.flops.get(pair),)
    ]
    ours = scores_frame(evidence.config, evidence.scores_of("translation"))
    missing = [
        {
            "origin": "ours",
            "model": paper.table_2[key].name,
            "pair": pair,
            "run": run,
            "verdict": entry.verdict.value,
            **_set(paper.table_2_columns[pair].test_set),
        }
        for run, entry in entries.items()
        for pair, _, key in (run.partition("."),)
        if entry.ours is None
    ]
    measured = score_records(ours, entries.values()).assign(pair=ours["task"])
    parts = (pd.DataFrame(published), measured, pd.DataFrame(missing))
    return pd.concat(part for part in parts if len(part)).reindex(columns=list(FIELDS))


def _set(evaluation_set: EvaluationSet) -> dict[str, str | int]:
    return {"test_set": "+".join(evaluation_set.corpora), "pairs": evaluation_set.pairs}
