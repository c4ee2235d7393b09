"""Table 2: BLEU and training cost, the paper's figures and ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aiayn.config import Config
from aiayn.report.comparison import Comparison, Scores
from aiayn.report.paper import BleuRow, Paper
from aiayn.report.results import Measured, ScoredSplit
from aiayn.report.tables import EMPTY, Cell, Row, Table, power_of_ten, signed
from aiayn.report.verdict import TOLERANCE_BLEU

NOT_COUNTED = "not counted yet"
PROTOCOL = (
    "The paper's protocol: cased BLEU over Moses tokens as multi-bleu.perl counts it, with German "
    "compounds split as in the authors' script; for French the authors' script is not known, and "
    "plain Moses tokens are taken. SacreBLEU (13a) is the figure to compare with later work; on "
    "newstest2014 it is 0.7 to 1.8 lower for the same output. Intervals are 95%, by bootstrap."
)
RULE = (
    f"Reproduced: at most {TOLERANCE_BLEU} BLEU from the printed value by the paper's protocol, on "
    "the paper's test set, with the paper's model. Late checkpoints of one training differ by about "
    "0.3 BLEU; a mistaken protocol costs 0.7 or more."
)


def table_2(
    paper: Paper, config: Config, scores: Scores, comparisons: tuple[Comparison, ...]
) -> tuple[Table, ...]:
    """The paper's layout with ours beneath, the comparison cell by cell, and all that was run."""
    return (
        _as_printed(paper, comparisons),
        _compared(comparisons),
        _measured(paper, config, scores),
    )


def _as_printed(paper: Paper, comparisons: tuple[Comparison, ...]) -> Table:
    rows: list[Row] = []
    notes = paper.notes["table_2"]
    for key, printed in paper.table_2.items():
        marks = {pair: "a" for pair in printed.bleu if f"{key}.bleu.{pair}" in notes}
        rows.append(_printed_row(paper, printed, marks))
        ours = {item.pair: item for item in comparisons if item.row == key}
        if ours:
            cells = [_score_cell(item.ours, item.run, item) for item in ours.values()]
            cost = Cell(NOT_COUNTED, span=len(ours), tone="quiet")
            rows.append(Row((Cell(f"{printed.name}, ours"), Cell("ours"), *cells, cost), "ours"))
    headings = [column.heading for column in paper.table_2_columns.values()]
    return Table(
        "Table 2, with ours beneath",
        ("Model", "Figures", *(f"{name} BLEU" for name in headings))
        + tuple(f"{name} FLOPs" for name in headings),
        "ll" + "r" * 2 * len(headings),
        tuple(rows),
        (
            *(("a", note) for key, note in notes.items() if ".bleu." in key),
            ("", f"{paper.about['table_2']} Source of all published figures: {paper.source}."),
            ("", notes["flops"]),
        ),
        key="table-2",
    )


def _printed_row(paper: Paper, printed: BleuRow, marks: dict[str, str]) -> Row:
    cells = [
        Cell(printed.bleu[pair].text, mark=marks.get(pair, "")) if pair in printed.bleu else Cell(EMPTY)
        for pair in paper.table_2_columns
    ]
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
        "Verdicts",
        (
            "Model", "Pair", "Test set", "Paper", "Ours", "95% interval", "SacreBLEU",
            "95% interval", "Difference", "Verdict",
        ),
        "lllrrrrrrl",
        tuple(Row(tuple(_comparison_cells(item))) for item in comparisons),
        (("", RULE), ("", PROTOCOL)),
        key="verdicts",
    )  # fmt: skip


def _comparison_cells(item: Comparison) -> Iterator[Cell]:
    judgement, test_set = item.judgement, item.column.test_set
    yield Cell(item.model_name)
    yield Cell(item.column.heading)
    yield Cell(" + ".join(test_set.corpora), detail=f"{test_set.pairs:,} pairs")
    yield Cell(item.paper.text)
    yield _score_cell(item.ours, item.run)
    yield _interval_cell(item.ours, item.run)
    yield _score_cell(item.sacrebleu, item.run)
    yield _interval_cell(item.sacrebleu, item.run)
    yield Cell(EMPTY if judgement.difference is None else signed(judgement.difference))
    # the first reason tells most; the run's provenance lists them all
    reason = judgement.reasons[0] if judgement.reasons else ""
    yield Cell(judgement.verdict.value, detail=reason, tone=judgement.verdict.name.lower())


def _measured(paper: Paper, config: Config, scores: Scores) -> Table:
    return Table(
        f"Measured at the scale {config.scale}",
        (
            "Run", "Scored on", "Pairs", "BLEU, paper's protocol", "95% interval", "SacreBLEU",
            "95% interval", "chrF2", "Lower-cased BLEU",
        ),
        "llrrrrrrr",
        tuple(
            row
            for run, splits in scores.items()
            for row in _measured_rows(run, splits, _protocol(paper, config.run(run).task))
        ),
        (
            ("", "Every score of this scale, on the sentences it names. These are not the paper's "
             "figures unless the set is newstest2014 and a verdict above says so."),
            ("", "Lower-cased BLEU follows the published Multi30k figures: normalised, lower-cased "
             "Moses tokens."),
        ),
        key="measured",
    )  # fmt: skip


def _measured_rows(
    run: str, splits: Mapping[str, ScoredSplit] | None, protocol: str
) -> Iterator[Row]:
    if splits is None:
        yield Row((Cell(run), Cell("not run", tone="quiet", span=8)))
        return
    for split, scored in splits.items():
        bleu, sacrebleu = scored.scores.get(protocol), scored.scores.get("bleu")
        evaluation_set = scored.evaluation_set
        yield Row(
            (
                Cell(run),
                Cell(" + ".join(evaluation_set.corpora), detail=split),
                Cell(f"{evaluation_set.pairs:,}"),
                _score_cell(bleu, run),
                _interval_cell(bleu, run),
                _score_cell(sacrebleu, run),
                _interval_cell(sacrebleu, run),
                _score_cell(scored.scores.get("chrf"), run),
                _score_cell(scored.scores.get("lowercased_bleu"), run),
            )
        )


def _protocol(paper: Paper, task: str) -> str:
    column = paper.table_2_columns.get(task)
    return column.protocol if column else "tokenized_bleu"


def _score_cell(score: Measured | None, run: str, item: Comparison | None = None) -> Cell:
    if score is None:
        return Cell("not run" if item else EMPTY, tone="quiet")
    verdict = item.judgement.verdict if item else None
    return Cell(
        f"{score.value:.2f}",
        detail=verdict.value if verdict else "",
        sources=(f"{score.source}.value",),
        run=run,
    )


def _interval_cell(score: Measured | None, run: str) -> Cell:
    if score is None or score.low is None or score.high is None:
        return Cell(EMPTY, tone="quiet")
    text = f"{score.low:.2f}–{score.high:.2f}"
    return Cell(text, sources=(f"{score.source}.low", f"{score.source}.high"), run=run)
