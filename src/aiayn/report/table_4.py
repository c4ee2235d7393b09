"""Table 4: F1 of constituency parsing, the paper's figures and ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from aiayn.evaluation.bracket_metrics import BRACKET_METRICS
from aiayn.report.cells import our_cell, score_cell, score_records, scores_table, two_decimals
from aiayn.report.drawing import drawing, line_style
from aiayn.report.evidence import Evidence, Scores
from aiayn.report.parse_trees import read_parses, tree_figures
from aiayn.report.section import Figure, Section
from aiayn.report.tables import Cell, RowValues, Table, numbers, row, table, text
from aiayn.report.verdict import TOLERANCE_F1, Entry, Verdict, compare_with_paper
from aiayn.results import paths
from aiayn.results.frames import scores_frame
from aiayn.results.scores import SplitScores

FIELDS = (
    "origin", "parser", "training", "run", "split", "test_set", "sentences", "measure", "value",
    "low", "high", "verdict", "difference",
)  # fmt: skip
RULE = (
    f"Reproduced: at most {TOLERANCE_F1} F1 from the printed value, on section 23 of the Wall "
    "Street Journal from a licensed Penn Treebank, by the whole of section 6.3's recipe: training "
    "text by its number of trees (a licensed treebank has no published checksum), model, batches, "
    "warm-up, search; the paper does not say what section 22 was used to tune, so that is not "
    "required. Two of the semi-supervised row's corpora are not public."
)
PROTOCOL = (
    "Labelled bracketing as EVALB counts it with COLLINS.prm: no TOP, no punctuation, ADVP and "
    "PRT as one label. Outputs that are not a tree over the input's words are repaired into one "
    "and counted as repaired; every sentence is scored. Wrapped: with one more bracket around "
    "every sentence, in treebank and output alike, as in the trees on which figures for GENIA "
    "were published. Each score is shown with its 95% bootstrap interval."
)


def section(evidence: Evidence) -> Section:
    """The paper's rows with ours beneath, all that was measured, and some parses.

    Raises:
        DataError: texts and outputs of a run do not belong together.
    """
    entries = _entries(evidence)
    parsers = evidence.scores_of("parsing")
    return Section(
        key="table_4",
        title="Table 4: parsing",
        subtitle="English constituency parsing, F1 on section 23 of the Wall Street Journal",
        lead="The claim that the model generalizes to other tasks: the same graph, with sentences "
        "in and trees out.",
        tables=(
            _as_printed(evidence, entries),
            *scores_table(
                evidence,
                "parsing",
                f"All parsing scores at the scale {evidence.config.scale}",
                (PROTOCOL, "None is comparable with the paper unless a verdict above says so."),
                key="parsing-measured",
                of="Sentences",
                further={
                    "Repaired": lambda run, scored: _count(scored, "repaired", run),
                    "Skipped": lambda run, scored: _count(scored, "skipped", run),
                },
            ),
        ),
        records=_records(evidence, entries),
        entries=tuple(entries.values()),
        figures=(*_f1_by_length(parsers), *tree_figures(read_parses(evidence))),
    )


def _entries(evidence: Evidence) -> dict[str, Entry]:
    """The F1 of the paper's own parsers, by the run of ours for each."""
    entries = {}
    for printed in evidence.paper.table_4.values():
        if printed.run is None or printed.recipe is None:
            continue
        test = evidence.scored(printed.run)
        ours = test.scores.get("bracket_f1") if test else None
        entries[printed.run] = compare_with_paper(
            evidence,
            f"Parsing, {printed.training}: F1 on WSJ 23",
            printed.f1,
            ours.value if ours else None,
            score_cell(ours, printed.run),
            run=printed.run,
            split=paths.TEST,
            recipe=printed.recipe,
            tolerance=TOLERANCE_F1,
        )
    return entries


def _as_printed(evidence: Evidence, entries: Mapping[str, Entry]) -> Table:
    paper, rows = evidence.paper, list[RowValues]()
    ours = dict(_our_rows(evidence, entries))
    for printed in paper.table_4.values():
        origin = "paper" if printed.run else "published"
        block = printed.run or origin
        rows.append(row(printed.name, printed.training, printed.f1.text, tone=origin, block=block))
        if printed.run in ours:
            rows.append(ours.pop(printed.run))
    return table(
        "Table 4",
        text("Parser", "Training") + numbers("WSJ 23 F1"),
        [*rows, *ours.values()],
        (f"{paper.about['table_4']} Source of all published figures: {paper.source}.", RULE),
        key="table-4",
    )


def _our_rows(evidence: Evidence, entries: Mapping[str, Entry]) -> Iterator[tuple[str, RowValues]]:
    """Of every run with a test score, or that failed."""
    trainings = {printed.run: printed.training for printed in evidence.paper.table_4.values()}
    for run in evidence.scores_of("parsing"):
        if evidence.scored(run) or run in evidence.unfinished:
            ours = Cell("ours", detail=run)
            f1 = our_cell(evidence, entries.get(run), run, BRACKET_METRICS)
            yield run, row(ours, trainings.get(run, ""), f1, tone="ours", block=run)


def _count(scored: SplitScores, name: str, run: str) -> Cell:
    split = scored.scores["bracket_f1"].source.removesuffix("bracket_f1")
    return Cell(f"{scored.counts[name]:,}", sources=(f"{split}counts.{name}",), run=run)


def _records(evidence: Evidence, entries: Mapping[str, Entry]) -> pd.DataFrame:
    """Published figures, then ours; fields are empty where they do not apply."""
    test_set = evidence.paper.table_4_test_set
    published = [
        {
            "origin": "paper" if printed.run else "published",
            "parser": printed.name,
            "training": printed.training,
            "test_set": "+".join(test_set.corpora),
            "sentences": test_set.pairs,
            "measure": "bracket_f1",
            "value": printed.f1.text,
        }
        for printed in evidence.paper.table_4.values()
    ]
    ours = scores_frame(evidence.config, evidence.scores_of("parsing"))
    measured = score_records(ours, entries.values()).rename(columns={"pairs": "sentences"})
    measured["verdict"] = measured["verdict"].replace("", Verdict.NOT_RUN.value)
    parts = (pd.DataFrame(published), measured)
    return pd.concat(part for part in parts if len(part)).reindex(columns=list(FIELDS))


def _f1_by_length(parsers: Scores) -> Iterator[Figure]:
    """F1 on the test set by class of sentence length, a line for each run; none without runs."""
    curves = {
        run: splits[paths.TEST].lengths
        for run, splits in parsers.items()
        if splits and paths.TEST in splits and splits[paths.TEST].lengths
    }
    if not curves:
        return
    names = {name for lengths in curves.values() for name in lengths}
    classes = sorted(names, key=lambda name: int(name.rstrip("+").split("-")[0]))
    groups = pd.DataFrame(
        {"run": run, "words": name, "sentences": group.sentences, "f1": group.f1}
        for run, lengths in curves.items()
        for name, group in lengths.items()
    )
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        # every run has all classes, in this order; without sentences of a length there is a gap
        for number, run in enumerate(curves):
            f1 = groups[groups["run"] == run].set_index("words").reindex(classes)["f1"]
            axes.plot(classes, f1, label=run, **line_style(number, markers=True))
        axes.set(xlabel="words in the sentence", ylabel="bracket F1, %")
        axes.set_ylim(top=101)
        drawn.figure.legend(loc="outside right upper")
    yield Figure(
        name="parsing_f1_by_length",
        title="Parsing: F1 against sentence length",
        caption=f"F1 over the test sentences of each length, of {', '.join(curves)}.",
        svg=drawn.svg,
        data=groups.assign(f1=two_decimals(groups["f1"])),
    )
