"""Table 2: BLEU and training cost, the paper's figures and ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from aiayn.config import Config
from aiayn.evaluation.metric import Metric
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS, Translations
from aiayn.paper import BleuRow, Paper
from aiayn.report.evidence import Evidence
from aiayn.report.parts.score_cell import score_cell
from aiayn.report.parts.section import Entry, Section
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table, power_of_ten, signed
from aiayn.report.parts.training_cost import counted_costs, rounded
from aiayn.report.parts.verdict import TOLERANCE_BLEU
from aiayn.report.table_2.bleu_cells import Comparison, Scores, compare
from aiayn.report.table_2.bleu_lines import records
from aiayn.report.table_2.cost_figure import cost_figure, our_systems, printed_systems
from aiayn.results import places
from aiayn.results.scores import SplitScores

COUNTED = (
    "Training FLOPs of ours are counted: the matrix products of forward and backward pass for each "
    f"source and target piece ({places.MODELS_PROFILE}), times the target pieces trained on "
    f"({places.HISTORIES}/), with as many source pieces taken for granted. The paper's costs are "
    "hours × GPUs × an assumed rate, several times the count of the same training (see costs): "
    "compare ours with ours."
)
NO_COSTS: Mapping[str, float] = {}
PROTOCOL = (
    "The paper's protocol: cased BLEU over Moses tokens as multi-bleu.perl counts it, with German "
    "compounds split as in the authors' script; for French the authors' script is not known, and "
    "plain Moses tokens are taken. SacreBLEU (13a) is the figure to compare with later work; on "
    "newstest2014 it is 0.7 to 1.8 lower for the same output. Beside or below a score stands its "
    "95% interval, by bootstrap."
)
RULE = (
    f"Reproduced: at most {TOLERANCE_BLEU} BLEU from the printed value by the paper's protocol, on "
    "the paper's test set, by the paper's whole recipe: training corpora by their pairs and the "
    "checksums of their files, vocabulary, model, batches, learning rate, averaged checkpoints and "
    "search (src/aiayn/paper/recipe.py). Any departure is named and leaves the cell without a "
    "verdict. Late checkpoints of one training differ by about 0.3 BLEU, so less would ask for "
    "luck; a mistaken protocol moves a score by 0.7 or more, so more would let it pass."
)
TOKENIZED = "tokenized_bleu"
ALWAYS_SHOWN = ("bleu", "chrf", "lowercased_bleu")
MEASURED = (
    "Every score of this scale, on the sentences it names. None is comparable with the paper "
    "unless a verdict above says so."
)
MULTI30K = (
    "Lower-cased BLEU, over normalised and lower-cased Moses tokens, is how figures on Multi30k "
    "are usually published."
)


def section(evidence: Evidence) -> Section:
    """Table 2 as a part of the report; its entries are the BLEU cells of the paper's models."""
    paper, config, scores = evidence.paper, evidence.config, evidence.scores
    comparisons = compare(paper, config, scores, evidence.manifests)
    costs = counted_costs(config, evidence.models, evidence.histories)
    systems = (*printed_systems(paper), *our_systems(comparisons, costs))
    return Section(
        key="table_2",
        title="Table 2",
        subtitle="BLEU on newstest2014 and training cost",
        lead=paper.about["table_2"],
        tables=table_2(paper, config, scores, comparisons, costs),
        records=records(paper, config, scores, comparisons),
        entries=tuple(_entry(item) for item in comparisons),
        figures=(cost_figure(paper, systems),),
    )


def _entry(item: Comparison) -> Entry:
    return Entry(
        what=f"{item.model_name}, {item.column.heading} BLEU",
        paper=item.paper.text,
        ours=score_cell(item.ours, item.run) if item.ours else None,
        verdict=item.judgement.verdict,
        reasons=item.judgement.reasons,
        of_training=True,
    )


def table_2(
    paper: Paper,
    config: Config,
    scores: Scores,
    comparisons: tuple[Comparison, ...],
    costs: Mapping[str, float] = NO_COSTS,
) -> tuple[Table, ...]:
    """The paper's layout with ours beneath, the comparison cell by cell, and all that was run.

    Args:
        costs: counted training FLOPs by run (training_cost.py); a run without them shows none.
    """
    return (
        _as_printed(paper, comparisons, costs),
        _compared(comparisons),
        _measured(paper, config, scores, costs),
    )


def _as_printed(
    paper: Paper, comparisons: tuple[Comparison, ...], costs: Mapping[str, float]
) -> Table:
    rows: list[Row] = []
    notes = paper.notes["table_2"]
    for key, printed in paper.table_2.items():
        marks = {pair: "a" for pair in printed.bleu if f"{key}.bleu.{pair}" in notes}
        rows.append(_printed_row(paper, printed, marks))
        ours = {item.pair: item for item in comparisons if item.row == key}
        if ours:
            cells = [_verdict_cell(item) for item in ours.values()]
            # a cost stands beside the paper's only where the training is the paper's
            cells += [
                _cost_cell(costs.get(item.run) if item.ours else None) for item in ours.values()
            ]
            rows.append(Row((Cell(printed.name), Cell("ours"), *cells), "ours"))
    headings = [column.heading for column in paper.table_2_columns.values()]
    return Table(
        "Table 2, with ours beneath",
        (
            "Model",
            "Figures",
            *(f"{name} BLEU" for name in headings),
            *(f"{name} FLOPs" for name in headings),
        ),
        "ll" + "r" * 2 * len(headings),
        tuple(rows),
        (
            *(("a", note) for key, note in notes.items() if ".bleu." in key),
            ("", f"{paper.about['table_2']} Source of all published figures: {paper.source}."),
            ("", notes["flops"]),
            ("", COUNTED),
        ),
        key="table-2",
    )


def _printed_row(paper: Paper, printed: BleuRow, marks: dict[str, str]) -> Row:
    cells = []
    for pair in paper.table_2_columns:
        bleu = printed.bleu.get(pair)
        cells.append(Cell(bleu.text, mark=marks.get(pair, "")) if bleu else Cell(EMPTY))
    if printed.flops_of_both:
        cost = power_of_ten(printed.flops_of_both.text)
        cells.append(Cell(cost, span=len(paper.table_2_columns)))
    else:
        for pair in paper.table_2_columns:
            flops = printed.flops.get(pair)
            cells.append(Cell(power_of_ten(flops.text) if flops else EMPTY))
    origin = "published" if printed.by else "paper"
    return Row((Cell(printed.name, detail=printed.by or ""), Cell(origin), *cells), origin)


def _compared(comparisons: tuple[Comparison, ...]) -> Table:
    return Table(
        "Verdicts, cell by cell",
        ("Model", "Test set", "Paper", "Ours", "Difference", "Verdict", "SacreBLEU"),
        "llrrrlr",
        tuple(Row(tuple(_comparison_cells(item))) for item in comparisons),
        (("", RULE), ("", PROTOCOL)),
        key="verdicts",
    )


def _comparison_cells(item: Comparison) -> Iterator[Cell]:
    judgement, test_set = item.judgement, item.column.test_set
    yield Cell(item.model_name, detail=item.column.heading)
    yield Cell(" + ".join(test_set.corpora), detail=f"{test_set.pairs:,} pairs")
    yield Cell(item.paper.text)
    yield score_cell(item.ours, item.run)
    yield Cell(EMPTY if judgement.difference is None else signed(judgement.difference))
    # the first reason tells most; the run's provenance lists them all
    reason = judgement.reasons[0] if judgement.reasons else ""
    yield Cell(judgement.verdict.value, detail=reason, tone=judgement.verdict.name.lower())
    yield score_cell(item.sacrebleu, item.run)


def _measured(paper: Paper, config: Config, scores: Scores, costs: Mapping[str, float]) -> Table:
    metrics = _shown(paper, scores)
    return Table(
        f"Measured at the scale {config.scale}",
        (
            "Run",
            "Scored on",
            "Pairs",
            "BLEU, paper's protocol",
            *(metric.label for metric in metrics),
            "Training FLOPs",
        ),
        "llrr" + "r" * len(metrics) + "r",
        tuple(
            row
            for run, splits in scores.items()
            if config.task_of(run).kind == "translation"
            for row in _measured_rows(
                run,
                splits,
                (_protocol(paper, config.run(run).task), *(metric.name for metric in metrics)),
                costs.get(run),
            )
        ),
        (("", MEASURED), ("", MULTI30K), ("", COUNTED)),
        key="measured",
    )


def _shown(paper: Paper, scores: Scores) -> tuple[Metric[Translations], ...]:
    """What stands beside the paper's protocol: further metrics once a run was scored by them."""
    protocols = {TOKENIZED, *(column.protocol for column in paper.table_2_columns.values())}
    scored = {
        name
        for splits in scores.values()
        for split in (splits or {}).values()
        for name in split.scores
    }
    shown = {*ALWAYS_SHOWN, *scored} - protocols
    return tuple(metric for metric in TRANSLATION_METRICS if metric.name in shown)


def _measured_rows(
    run: str,
    splits: Mapping[str, SplitScores] | None,
    measures: Sequence[str],
    cost: float | None,
) -> Iterator[Row]:
    if not splits:
        yield Row((Cell(run), Cell("not run", tone="quiet", span=3 + len(measures))))
        return
    for split, scored in splits.items():
        evaluation_set = scored.test_set
        yield Row(
            (
                Cell(run),
                Cell(" + ".join(evaluation_set.corpora), detail=split),
                Cell(f"{evaluation_set.pairs:,}"),
                *(score_cell(scored.scores.get(measure), run) for measure in measures),
                _cost_cell(cost),
            )
        )


def _protocol(paper: Paper, task: str) -> str:
    column = paper.table_2_columns.get(task)
    return column.protocol if column else TOKENIZED


def _cost_cell(cost: float | None) -> Cell:
    return Cell(rounded(cost)) if cost is not None else Cell(EMPTY, tone="quiet")


def _verdict_cell(item: Comparison) -> Cell:
    """The score over its verdict."""
    if item.ours is None:
        return Cell("not run", tone="quiet")
    return Cell(
        f"{item.ours.value:.2f}",
        detail=item.judgement.verdict.value,
        sources=(f"{item.ours.source}.value",),
        run=item.run,
    )
