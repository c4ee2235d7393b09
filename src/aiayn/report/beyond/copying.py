"""Sequences copied: how many exactly, at lengths that training had and at longer ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from aiayn.config import Config
from aiayn.errors import DataError
from aiayn.evaluation.accuracy import COPYING_METRICS
from aiayn.report.beyond.part import Part, record
from aiayn.report.evidence import Evidence, runs_of
from aiayn.report.parts.drawing import INK, drawing, legend_label, line_style
from aiayn.report.parts.score_cell import score_cell
from aiayn.report.parts.section import Figure
from aiayn.report.parts.tables import Cell, Row, Table
from aiayn.results import places
from aiayn.results.scores import SplitScores
from aiayn.results.text import read_lines

(ACCURACY,) = COPYING_METRICS

NOTE = (
    "The input is to be written once more; copied are outputs that equal it to the last symbol, "
    "beside them the exact 95 % interval (Clopper and Pearson). No sequence of a set is one of "
    "training. Dev by the last checkpoint, test sets by the mean of the last ones."
)
EXTRAPOLATION = (
    "The paper chose sinusoids because they “may allow the model to extrapolate to sequence "
    "lengths longer than the ones encountered during training” (section 3.5). Lengths beyond the "
    "dotted line were not encountered; learned positions have no trained vector there."
)


def part(evidence: Evidence) -> Part:
    """A table of all runs that copy, and a figure for each task.

    Raises:
        DataError: texts and outputs of a run do not belong together.
    """
    config, scores = evidence.config, evidence.scores
    tasks = [name for name, task in config.tasks.items() if task.kind == "copying"]
    copied = {run: scores[run] for task in tasks for run in runs_of(config, task)}
    if not copied:
        return Part()
    return Part(
        tables=(_table(config, copied),),
        figures=tuple(
            figure for task in tasks for figure in _by_length(config, task, evidence.root)
        ),
        records=tuple(_records(config, copied)),
    )


def _table(config: Config, copied: Mapping[str, Mapping[str, SplitScores] | None]) -> Table:
    return Table(
        "Sequences copied",
        ("Run", "Positions", "Scored on", "Lengths", "Sequences", ACCURACY.label),
        "lllrrr",
        tuple(row for run, splits in copied.items() for row in _rows(config, run, splits)),
        (("", NOTE),),
        key="copying",
    )


def _rows(config: Config, run: str, splits: Mapping[str, SplitScores] | None) -> Iterator[Row]:
    positions = Cell(config.model_of(run).positions)
    if not splits:
        yield Row((Cell(run), positions, Cell("not run", tone="quiet", span=4)))
        return
    for split, scored in splits.items():
        score = scored.scores[ACCURACY.name]
        yield Row(
            (
                Cell(run),
                positions,
                Cell(" + ".join(scored.test_set.corpora), detail=split),
                Cell(_lengths(config, *scored.test_set.corpora)),
                Cell(f"{scored.test_set.pairs:,}"),
                score_cell(score, run),
            ),
            "ours",
        )


def _lengths(config: Config, *corpora: str) -> str:
    shortest, longest = _bounds(config, *corpora)
    return f"{shortest} to {longest}"


def _bounds(config: Config, *corpora: str) -> tuple[int, int]:
    """The shortest and the longest sequence that some corpora may hold."""
    drawn = [spec for name in corpora if (spec := config.catalogue.corpora[name].sequences)]
    return min(spec.shortest for spec in drawn), max(spec.longest for spec in drawn)


def _records(
    config: Config, copied: Mapping[str, Mapping[str, SplitScores] | None]
) -> Iterator[dict[str, str]]:
    for run, splits in copied.items():
        for split, scored in (splits or {}).items():
            score = scored.scores[ACCURACY.name]
            numbers = {"value": score.value, "low": score.low, "high": score.high}
            yield record("copying", config, run, split, scored) | {
                "measure": ACCURACY.name,
                **{name: f"{number}" for name, number in numbers.items()},
            }


def _by_length(config: Config, task: str, root: Path) -> Iterator[Figure]:
    """The figure of a task, once one of its runs has decoded the test sets."""
    outputs = pd.concat(
        [_outputs(config, run, root) for run in runs_of(config, task)], ignore_index=True
    )
    if outputs.empty:
        return
    counts = outputs.groupby(["run", "positions", "length"], sort=False)["copied"]
    data = counts.agg(sequences="size", copied="sum").reset_index()
    curves = data.groupby(["run", "positions"], sort=False)
    _, longest = _bounds(config, *config.tasks[task].text.train)
    with drawing(6.4, 3.0) as drawn:
        axes = drawn.figure.add_subplot()
        for number, ((run, positions), curve) in enumerate(curves):
            axes.plot(
                curve["length"], 100 * curve["copied"] / curve["sequences"],
                label=f"{legend_label(str(run))}: {positions}", **line_style(number, markers=True),
            )  # fmt: skip
        axes.axvline(longest + 0.5, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        axes.set_xlabel("symbols of the sequence")
        axes.set_ylabel("copied, %")
        axes.legend(loc="best")
    yield Figure(
        name=f"copied_by_length_{task}",
        title=f"Sequences copied by length, {task}",
        caption=f"{EXTRAPOLATION} All test sets of {task}, by the mean of the last checkpoints.",
        svg=drawn.svg,
        data=data,
    )


def _outputs(config: Config, run: str, root: Path) -> pd.DataFrame:
    """A line for each sequence of the test sets that the run has decoded, the shortest first.

    Raises:
        DataError: a file is empty or not UTF-8, or has not as many lines as the sequences.
    """
    rows = []
    text, outputs = root / places.text(config.run(run).task), root / places.outputs(run)
    for split in config.task_of(run).text.tests:
        path = places.lines(text, split, "target")
        written = places.hypotheses(outputs, split)
        if not written.exists():
            continue
        targets, lines = read_lines(path), read_lines(written)
        if len(targets) != len(lines):
            raise DataError(
                f"{path} has {len(targets)} lines and {written} has {len(lines)}. "
                "Make both again: dvc repro."
            )
        rows += [
            (run, config.model_of(run).positions, len(target.split()), target == line)
            for target, line in zip(targets, lines, strict=True)
        ]
    table = pd.DataFrame(rows, columns=["run", "positions", "length", "copied"])
    return table.sort_values("length", kind="stable")
