"""A project held against a published reproduction, and the outcome in words, as data, as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from aiayn.commands.verification.causes import Cause, RunCauses, run_causes
from aiayn.commands.verification.cells import Cell, Verdict, cells
from aiayn.commands.verification.state import damage
from aiayn.report.page.document import render

FOLDER = Path(__file__).parent
SHOWN = 8  # differences of a run in a terminal
NOTHING_COMPARES = 2  # an exit status
FAILING = (Verdict.OUTSIDE, Verdict.MISSING, Verdict.INCOMPARABLE)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Every published figure beside the one here; what is damaged here; why runs differ."""

    reproduction: str
    cells: tuple[Cell, ...]
    damage: tuple[str, ...]
    runs: tuple[RunCauses, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Figures by verdict, those that occur."""
        counted = Counter(cell.verdict for cell in self.cells)
        return {str(verdict): counted[verdict] for verdict in Verdict if counted[verdict]}

    @property
    def status(self) -> int:
        """0: nothing is outside, missing or damaged. 1: something is. 2: no figure compares."""
        compared = {cell.verdict for cell in self.cells} - {Verdict.MISSING, Verdict.INCOMPARABLE}
        if not compared:
            return NOTHING_COMPARES
        return int(bool(self.damage) or any(cell.verdict in FAILING for cell in self.cells))


def verify(reproduction: Path, here: Path) -> Verification:
    """Hold the project in a folder against a reproduction's folder.

    Raises:
        NoReproductionError: the reproduction's folder is none.
        DataError, ScoreError, ProfileError, GraphError: a side is not what it should be.
    """
    compared = cells(reproduction, here)
    runs = tuple(dict.fromkeys(cell.of for cell in compared if cell.name != "parameters"))
    tasks = {run.partition(".")[0] for run in runs}
    return Verification(
        reproduction=str(reproduction),
        cells=compared,
        damage=damage(here, {*runs, *tasks}),
        runs=tuple(run_causes(runs, reproduction, here)),
    )


def to_json(held: Verification) -> str:
    """All of it, for programs."""
    content = {**asdict(held), "counts": held.counts, "status": held.status}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def to_html(held: Verification) -> str:
    """All of it, as one self-contained page."""
    return render("page.html", FOLDER, held=held, figure=_figure, interval=_interval, shown=SHOWN)


def to_lines(held: Verification) -> Iterator[str]:
    """For a terminal: a line for each figure, then what is damaged, then why, run by run."""
    width = max(len(f"{cell.of} {cell.name}") for cell in held.cells)
    for cell in held.cells:
        label = f"{cell.of} {cell.name}".ljust(width)
        figures = f"{_figure(cell.published):>10} {_figure(cell.here):>10}"
        why = f" ({cell.why})" if cell.why else ""
        yield f"{label}  {figures}  {_interval(cell):15}  {cell.verdict}{why}"
    yield ""
    for said in held.damage:
        yield f"Damaged or out of date: {said}"
    told: set[Cause] = set()  # what differs of a task differs for each of its runs
    for run in held.runs:
        causes = [cause for cause in run.causes if cause not in told]
        told |= {*causes}
        if run.first_output or causes:
            yield f"{run.run}: {_bytes(run)}"
        for cause in causes[:SHOWN]:
            yield f"  {cause.kind:9}  {cause.stage}: {cause.what}"
        if len(causes) > SHOWN:
            yield f"  and {len(causes) - SHOWN} more, which --json and --page have"
    yield f"{held.reproduction}: " + ", ".join(f"{n} {name}" for name, n in held.counts.items())


def _bytes(run: RunCauses) -> str:
    if run.first_output:
        return f"{run.first_output} is the first output with other bytes"
    return "every output has the same bytes"


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _interval(cell: Cell) -> str:
    return "" if cell.low is None else f"{cell.low:.2f} to {cell.high:.2f}"
