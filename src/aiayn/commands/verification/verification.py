"""The comparison of results with a published reproduction, as text, JSON and HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, computed_field

from aiayn.commands.verification.damage import damage_here, damage_published
from aiayn.commands.verification.differences import Difference, RunDifferences, run_differences
from aiayn.commands.verification.figures import Figure, Verdict, compare
from aiayn.commands.verification.intervals import FACTOR, LEVEL, PARAMETERS
from aiayn.commands.verification.rescoring import contradictions
from aiayn.report.page import render
from aiayn.results.frames import Results

SHOWN = 8  # differences of a run in a terminal
NOTHING_COMPARABLE = 2  # an exit status
ANOTHER_MACHINE = "another machine, and too few seeds to predict it"
FAILURES = {Verdict.OUTSIDE, Verdict.MISSING, Verdict.INCOMPARABLE}


class Verification(BaseModel, frozen=True):
    """Every published figure and ours, the damaged files on both sides, the scores that their
    hypotheses contradict, and the differences by run."""

    reproduction: str
    figures: tuple[Figure, ...]
    damage: tuple[str, ...]
    contradictions: tuple[str, ...]
    runs: tuple[RunDifferences, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def counts(self) -> dict[str, int]:
        """Figures by verdict."""
        counted = Counter(figure.verdict for figure in self.figures)
        return {str(verdict): counted[verdict] for verdict in Verdict if counted[verdict]}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def status(self) -> int:
        """0: nothing is outside, missing, damaged or contradictory. 1: something is. 2: nothing is
        comparable."""
        verdicts = {figure.verdict for figure in self.figures}
        if verdicts <= {Verdict.MISSING, Verdict.INCOMPARABLE}:
            return NOTHING_COMPARABLE
        return int(bool(self.damage or self.contradictions or verdicts & FAILURES))


def verify(reproduction: Path, here: Path) -> Verification:
    """Compare the results in a folder with a reproduction. Writes nothing.

    Raises:
        NoReproductionError: the reproduction has no scores.
        ConfigError, DataError, ScoreError, ProfileError: a file of either side cannot be read.
    """
    figures = compare(reproduction, here)
    tasks = {figure.run: figure.task for figure in figures if figure.figure != PARAMETERS}
    stages = {*tasks, *tasks.values()}
    runs = {run: run_differences(run, task, reproduction, here) for run, task in tasks.items()}
    if any(figure.figure == PARAMETERS for figure in figures):
        stages.add("profile_models")
    return Verification(
        reproduction=str(reproduction),
        figures=tuple(_on_another_machine(figure, runs.get(figure.run)) for figure in figures),
        damage=(*damage_published(reproduction), *damage_here(here, stages)),
        contradictions=contradictions((Results(reproduction), Results(here)), here),
        runs=tuple(runs.values()),
    )


def _on_another_machine(figure: Figure, run: RunDifferences | None) -> Figure:
    """The figure; if only the machine differs, one outside an interval over sentences has MOVED.

    Another machine sums in another order, which acts like another seed, and an interval over
    sentences does not cover the variation between seeds. The figure must still be within FACTOR of
    the published one.
    """
    if figure.verdict != Verdict.OUTSIDE or figure.basis != "sentences" or figure.here is None:
        return figure
    is_near = figure.published / FACTOR <= figure.here <= figure.published * FACTOR
    if run is not None and run.is_only_the_machine and is_near:
        return figure.model_copy(update={"verdict": Verdict.MOVED, "why": ANOTHER_MACHINE})
    return figure


def to_html(verification: Verification) -> str:
    """One self-contained page."""
    return render(
        "verification.html", Path(__file__).parent, verification=verification, number=_number,
        interval=_interval, shown=SHOWN, level=1 - LEVEL, factor=FACTOR,
    )  # fmt: skip


def to_lines(verification: Verification) -> Iterator[str]:
    """Lines for a terminal: figures, then damage and contradictions, then differences by run."""
    width = max(len(f"{figure.run} {figure.figure}") for figure in verification.figures)
    yield f"{'':{width}}  {'published':>10} {'here':>10}  {'expected here':26}  verdict"
    for figure in verification.figures:
        label = f"{figure.run} {figure.figure}".ljust(width)
        numbers = f"{_number(figure, figure.published):>10} {_number(figure, figure.here):>10}"
        why = f" ({figure.why})" if figure.why else ""
        yield f"{label}  {numbers}  {_interval(figure):26}  {figure.verdict}{why}"
    yield ""
    for sentence in verification.damage:
        yield f"Damaged or out of date: {sentence}"
    for sentence in verification.contradictions:
        yield f"Contradiction: {sentence}"
    printed: set[Difference] = set()  # a task's differences apply to each of its runs
    for run in verification.runs:
        causes = [cause for cause in run.causes if cause not in printed]
        printed |= {*causes}
        if run.first_output:
            yield f"{run.run}: {run.first_output} is the first output with other bytes"
        elif causes:
            yield f"{run.run}: every output has the same bytes"
        for cause in causes[:SHOWN]:
            yield f"  {cause.kind:9}  {cause.stage}: {cause.what}"
        if len(causes) > SHOWN:
            yield f"  and {len(causes) - SHOWN} more: see --json or --page"
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verification.counts.items())
    yield f"{verification.reproduction}: {counts}"


def _number(figure: Figure, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if figure.figure == PARAMETERS else f"{value:.2f}"


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None or figure.basis == "count":
        return ""
    return f"{figure.low:.2f} to {figure.high:.2f} ({figure.basis})"
