"""Table 4: F1 of constituency parsing, the paper's figures and ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from aiayn.config import Config
from aiayn.evaluation.bracket_metrics import BRACKET_METRICS
from aiayn.paper import Paper, ParserRow, Recipe
from aiayn.report.evidence import Evidence
from aiayn.report.parts.departures import judge_run
from aiayn.report.parts.drawing import PALETTE, drawing
from aiayn.report.parts.score_cell import score_cell
from aiayn.report.parts.section import Entry, Figure, Section
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table, signed
from aiayn.report.parts.verdict import TOLERANCE_F1, Judgement, Verdict
from aiayn.report.table_2.bleu_cells import Scores
from aiayn.report.table_4.parse_trees import read_parses, tree_figures
from aiayn.results.scores import Score, SplitScores
from aiayn.results.text import Manifest

FIELDS = (
    "origin", "parser", "training", "run", "split", "test_set", "sentences", "measure", "value",
    "low", "high", "verdict", "difference",
)  # fmt: skip
RULE = (
    f"Reproduced: at most {TOLERANCE_F1} F1 from the printed value, on section 23 of the Wall "
    "Street Journal from a licensed Penn Treebank, by the whole of section 6.3's recipe: training "
    "text by its number of trees (a licensed treebank has no published checksum), model, batches, "
    "warm-up, search; what section 22 was used to tune is not told and not asked for. Two of the "
    "semi-supervised row's corpora are not public."
)
PROTOCOL = (
    "Labelled bracketing as EVALB counts it with COLLINS.prm: no TOP, no punctuation, ADVP and PRT "
    "one label. Outputs that are no tree over the input's words are repaired into one and counted "
    "as repaired; every sentence is scored. Wrapped: with one bracket more around every sentence, "
    "in treebank and output alike, as in the trees on which figures for GENIA were published. "
    "Beside a score stands its 95% interval, by bootstrap."
)


@dataclass(frozen=True)
class _Compared:
    row: ParserRow
    run: str
    judgement: Judgement
    ours: Score | None  # only if it could be judged


def section(evidence: Evidence) -> Section:
    """The paper's rows with ours beneath, all that was measured, and what the parses look like.

    Raises:
        DataError: texts and outputs of a run do not belong together.
    """
    paper, config, manifests = evidence.paper, evidence.config, evidence.manifests
    scores, parses = evidence.scores, read_parses(config, evidence.root)
    parsers = {
        run: splits for run, splits in scores.items() if config.task_of(run).kind == "parsing"
    }
    compared = {
        key: _compare(row, row.recipe, row.run, config, parsers, manifests)
        for key, row in paper.table_4.items()
        if row.run is not None and row.recipe is not None
    }
    return Section(
        key="table_4",
        title="Table 4",
        subtitle="English constituency parsing",
        lead=(
            "The claim that the model generalizes to other tasks: the same graph, with sentences "
            "in and trees out."
        ),
        tables=(
            _as_printed(paper, compared),
            *([_measured(config.scale, parsers)] if parsers else []),
        ),
        records=tuple(_records(paper, parsers, compared)),
        entries=tuple(_entries(compared)),
        figures=(*_f1_by_length(parsers), *tree_figures(parses)),
    )


def _compare(
    row: ParserRow,
    recipe: Recipe,
    run: str,
    config: Config,
    parsers: Scores,
    manifests: Mapping[str, Manifest],
) -> _Compared:
    test = (parsers.get(run) or {}).get("test")
    ours = test.scores.get("bracket_f1") if test else None
    judgement = judge_run(
        row.f1.value,
        ours.value if ours else None,
        tolerance=TOLERANCE_F1,
        recipe=recipe,
        config=config,
        run=run,
        scored=test,
        manifests=manifests,
    )
    return _Compared(row, run, judgement, ours if judgement.judged else None)


def _as_printed(paper: Paper, compared: Mapping[str, _Compared]) -> Table:
    rows: list[Row] = []
    for key, printed in paper.table_4.items():
        origin = "paper" if printed.run else "published"
        cells = (printed.name, printed.training, origin, printed.f1.text, EMPTY, "")
        rows.append(Row(tuple(map(Cell, cells)), origin))
        if key in compared:
            rows.append(Row(tuple(_ours(compared[key])), "ours"))
    return Table(
        "Table 4, with ours beneath",
        ("Parser", "Training", "Figures", "WSJ 23 F1", "Difference", "Verdict"),
        "lllrrl",
        tuple(rows),
        (
            ("", f"{paper.about['table_4']} Source of all published figures: {paper.source}."),
            ("", RULE),
        ),
        key="table-4",
    )


def _ours(item: _Compared) -> Iterator[Cell]:
    judgement = item.judgement
    yield Cell(item.row.name)
    yield Cell(item.row.training)
    yield Cell("ours")
    yield Cell("not run", tone="quiet") if item.ours is None else score_cell(item.ours, item.run)
    yield Cell(EMPTY if judgement.difference is None else signed(judgement.difference))
    reason = judgement.reasons[0] if judgement.reasons else ""
    yield Cell(judgement.verdict.value, detail=reason, tone=judgement.verdict.name.lower())


def _measured(scale: str, parsers: Scores) -> Table:
    return Table(
        f"Parsing measured at the scale {scale}",
        (
            "Run", "Scored on", "Sentences", *(metric.label for metric in BRACKET_METRICS),
            "Repaired", "Skipped",
        ),
        "llr" + "r" * len(BRACKET_METRICS) + "rr",
        tuple(row for run, splits in parsers.items() for row in _measured_rows(run, splits)),
        (("", PROTOCOL), ("", "None is comparable with the paper unless a verdict above says so.")),
        key="parsing-measured",
    )  # fmt: skip


def _measured_rows(run: str, splits: Mapping[str, SplitScores] | None) -> Iterator[Row]:
    if not splits:
        yield Row((Cell(run), Cell("not run", tone="quiet", span=4 + len(BRACKET_METRICS))))
        return
    for split, scored in splits.items():
        yield Row(
            (
                Cell(run),
                Cell(" + ".join(scored.test_set.corpora), detail=split),
                _count_cell(scored, "sentences", run),
                *(score_cell(scored.scores.get(metric.name), run) for metric in BRACKET_METRICS),
                _count_cell(scored, "repaired", run),
                _count_cell(scored, "skipped", run),
            )
        )


def _count_cell(scored: SplitScores, name: str, run: str) -> Cell:
    place = scored.scores["bracket_f1"].source.removesuffix("bracket_f1")
    return Cell(f"{scored.counts[name]:,}", sources=(f"{place}counts.{name}",), run=run)


def _records(
    paper: Paper, parsers: Scores, compared: Mapping[str, _Compared]
) -> Iterator[dict[str, str]]:
    empty = dict.fromkeys(FIELDS, "")
    for row in paper.table_4.values():
        yield {
            **empty,
            "origin": "paper" if row.run else "published",
            "parser": row.name,
            "training": row.training,
            "test_set": "+".join(paper.table_4_test_set.corpora),
            "sentences": str(paper.table_4_test_set.pairs),
            "measure": "bracket_f1",
            "value": row.f1.text,
        }
    judged = {item.ours.source: item.judgement for item in compared.values() if item.ours}
    for run, splits in parsers.items():
        for split, scored in (splits or {}).items():
            for measure, score in scored.scores.items():
                judgement = judged.get(score.source, Judgement(Verdict.NOT_RUN))
                numbers = {"value": score.value, "low": score.low, "high": score.high}
                yield {
                    **empty,
                    "origin": "ours",
                    "run": run,
                    "split": split,
                    "test_set": "+".join(scored.test_set.corpora),
                    "sentences": str(scored.test_set.pairs),
                    "measure": measure,
                    **{name: f"{n:.2f}" for name, n in numbers.items() if n is not None},
                    "verdict": judgement.verdict.value,
                    "difference": ""
                    if judgement.difference is None
                    else f"{judgement.difference:+.2f}",
                }


def _entries(compared: Mapping[str, _Compared]) -> Iterator[Entry]:
    for item in compared.values():
        yield Entry(
            what=f"Parsing, {item.row.training}: F1 on WSJ 23",
            paper=item.row.f1.text,
            ours=None if item.ours is None else score_cell(item.ours, item.run),
            verdict=item.judgement.verdict,
            reasons=item.judgement.reasons,
            of_training=True,
        )


def _f1_by_length(parsers: Scores) -> Iterator[Figure]:
    """F1 on the test set by class of sentence length, a line for each run; none without runs."""
    curves = {
        run: splits["test"].lengths
        for run, splits in parsers.items()
        if splits and "test" in splits and splits["test"].lengths
    }
    if not curves:
        return
    names = {name for lengths in curves.values() for name in lengths}
    classes = sorted(names, key=lambda name: int(name.rstrip("+").split("-")[0]))
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        for n, (run, lengths) in enumerate(curves.items()):
            places = [place for place, name in enumerate(classes) if name in lengths]
            values = [lengths[classes[place]].f1 for place in places]
            axes.plot(places, values, marker="o", markersize=4, label=run, color=PALETTE[n % 6])
        axes.set_xticks(range(len(classes)), classes)
        axes.set_xlabel("words in the sentence")
        axes.set_ylabel("bracket F1, %")
        axes.set_ylim(top=101)
        drawn.figure.legend(loc="outside right upper")
    yield Figure(
        name="parsing_f1_by_length",
        title="Parsing: F1 against sentence length",
        caption=f"F1 over the test sentences of each length, of {', '.join(curves)}.",
        svg=drawn.svg,
        data=pd.DataFrame(
            [
                {
                    "run": run,
                    "words": name,
                    "sentences": str(group.sentences),
                    "f1": f"{group.f1:.2f}",
                }
                for run, lengths in curves.items()
                for name, group in lengths.items()
            ]
        ),
    )
