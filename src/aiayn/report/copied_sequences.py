"""The copying task: the share of exact copies, at lengths seen in training and beyond."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from aiayn.config import Config
from aiayn.report.cells import scores_table
from aiayn.report.drawing import INK, draw_lines, drawing
from aiayn.report.evidence import Evidence, runs_of
from aiayn.report.section import Figure
from aiayn.report.tables import Table
from aiayn.results import paths
from aiayn.results.scores import SplitScores
from aiayn.results.text import read_parallel

NOTE = (
    "The task is to repeat the input; an output counts as copied if it equals the input to the "
    "last symbol. The share is shown with its exact 95 % interval (Clopper and Pearson). No "
    "sequence of a test set occurs in training. Dev is decoded with the last checkpoint, test "
    "sets with the average of the last ones."
)
EXTRAPOLATION = (
    "The paper chose sinusoids because they “may allow the model to extrapolate to sequence "
    "lengths longer than the ones encountered during training” (section 3.5). Lengths beyond the "
    "dotted line were not encountered; learned positions have no trained vector there."
)


def tables(evidence: Evidence) -> Iterator[Table]:
    """A table of all runs of copying tasks; none where the scale has no such run."""
    config = evidence.config

    def lengths(_: str, scored: SplitScores) -> str:
        shortest, longest = _lengths(config, *scored.test_set.corpora)
        return f"{shortest} to {longest}"

    yield from scores_table(
        evidence,
        "copying",
        "Sequences copied",
        (NOTE,),
        key="copying",
        of="Sequences",
        further={
            "Positions": lambda run, _: config.model_of(run).positions,
            "Lengths": lengths,
        },
    )


def figures(evidence: Evidence) -> Iterator[Figure]:
    """One for each task of which a run has decoded the test sets.

    Raises:
        DataError: texts and outputs of a run do not belong together.
    """
    config = evidence.config
    for task, described in config.tasks.items():
        if described.kind == "copying" and not (outputs := _outputs(evidence, task)).empty:
            _, longest = _lengths(config, *described.text.train)
            yield _by_length(task, outputs, longest)


def _by_length(task: str, outputs: pd.DataFrame, longest_trained: int) -> Figure:
    """The share of sequences copied, against their length."""
    copied = outputs.groupby(["run", "positions", "length"], sort=False)["copied"]
    by_run = copied.agg(sequences="size", copied="sum").reset_index().groupby("run", sort=False)
    data = pd.concat(of_run.sort_values("length") for _, of_run in by_run)
    shares = data.assign(
        share=100 * data["copied"] / data["sequences"], name=data["run"] + ": " + data["positions"]
    )
    with drawing(6.4, 3.0) as drawn:
        axes = drawn.figure.add_subplot()
        draw_lines(axes, shares, "length", "share", by="name", markers=True)
        axes.axvline(longest_trained + 0.5, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        axes.set(xlabel="symbols of the sequence", ylabel="copied, %")
        axes.legend(loc="best")
    return Figure(
        name=f"copied_by_length_{task}",
        title=f"Sequences copied by length, {task}",
        caption=f"{EXTRAPOLATION} All test sets of {task}, by the mean of the last checkpoints.",
        svg=drawn.svg,
        data=data,
    )


def _outputs(evidence: Evidence, task: str) -> pd.DataFrame:
    """A row for each sequence of the test sets that a run has decoded."""
    config, folder = evidence.config, evidence.root / paths.text(task)
    return pd.DataFrame(
        {
            "run": run,
            "positions": config.model_of(run).positions,
            "length": len(sequence.split()),
            "copied": sequence == output,
        }
        for run in runs_of(config, task)
        for split in config.task(task).text.tests
        if (written := evidence.hypotheses(run, split))
        for sequence, output in zip(
            *read_parallel(paths.lines(folder, split, "target"), written), strict=True
        )
    )


def _lengths(config: Config, *corpora: str) -> tuple[int, int]:
    """The shortest and the longest sequence that some corpora may hold."""
    drawn = [spec for name in corpora if (spec := config.catalogue.corpora[name].sequences)]
    return min(spec.shortest for spec in drawn), max(spec.longest for spec in drawn)
