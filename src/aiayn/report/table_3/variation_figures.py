"""Table 3 as pictures: what each variation does to BLEU and perplexity, in the paper and here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from aiayn.config import Config, Model
from aiayn.paper import Paper
from aiayn.paper.claims import agreement
from aiayn.report.parts.drawing import DASHES, PALETTE, drawing
from aiayn.report.parts.section import Figure
from aiayn.results.comparison import Comparison, Measure
from aiayn.results.profiles import ModelsProfile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# what is varied, a panel each
LABELS = {
    "parameters": "parameters, millions",
    "h": "heads h",
    "d_k": "key width d_k",
    "P_drop": "dropout P_drop",
    "eps_ls": "label smoothing eps_ls",
}
MARKERS = {"base": ("o", 9), "own": ("D", 5), "": ("o", 3.5)}
MEASURES = {"bleu": "BLEU", "perplexity": "Perplexity"}


@dataclass(frozen=True)
class Point:
    """A row, or model of ours, at its place on a panel's axis; `mark` is "base", "own" or "".

    `moves` is what table 3 says of ours, "" of the base and of the paper's rows.
    """

    row: str
    x: float
    y: float
    sd: float | None = None
    mark: str = ""
    moves: str = ""


Panels = Mapping[str, list[Point]]


def figures(
    paper: Paper, config: Config, found: Comparison | None, profile: ModelsProfile | None
) -> Iterator[Figure]:
    """BLEU and perplexity against what the rows vary: the paper's above, ours below."""
    for measure, label in MEASURES.items():
        printed = _paper_points(paper, profile, measure)
        ours = _our_points(paper, config, found, profile, measure)
        if not any(ours.values()):
            continue
        yield Figure(
            name=f"table_3_{measure}",
            title=f"{label} of table 3's variations",
            caption="Above the paper's figures (newstest2013), below ours at this scale; each has "
            "its own axis, for the two were measured on other text and by models of other sizes. "
            "A ring is the base, a diamond a row that the paper does not have. Bars are standard "
            "deviations over seeds, where there are several; the band is the base's. Rows of ours "
            "that are within the noise of the seed (undecided in table 3) are hollow.",
            svg=_draw(printed, ours, f"{label}, dev"),
            data=pd.DataFrame([
                {
                    "origin": origin, "varied": varied, "row": point.row, "mark": point.mark,
                    "x": f"{point.x:g}", measure: f"{point.y:g}",
                    "sd": f"{point.sd:g}" if point.sd is not None else "",
                    "moves": point.moves,
                }
                for origin, panels in (("paper", printed), ("ours", ours))
                for varied, points in panels.items()
                for point in points
            ]),
        )  # fmt: skip


def varied_alone(changed: Set[str]) -> str:
    """The panel of a row that parts from the base in the columns `changed`.

    That is the one column it changes, or h together with d_k and d_v (the paper's rows A); a row
    that changes anything else is told by its size.
    """
    if "h" in changed and changed <= {"h", "d_k", "d_v"}:
        return "h"
    return next(iter(changed)) if len(changed) == 1 and changed <= LABELS.keys() else "parameters"


def _paper_points(paper: Paper, profile: ModelsProfile | None, measure: str) -> Panels:
    base = paper.table_3["base"].columns
    panels: dict[str, list[Point]] = {varied: [] for varied in LABELS}
    for row, printed in paper.table_3.items():
        columns = {**base, **printed.columns}
        changed = {column for column in base if columns[column] != base[column]}
        counted = profile.paper.get(row) if profile else None
        mark = "base" if row == "base" else ""
        y = getattr(printed, measure).value
        for varied in LABELS if mark else (varied_alone(changed),):
            if varied != "parameters":
                panels[varied].append(Point(row, columns[varied].value, y, mark=mark))
            elif counted:
                panels[varied].append(Point(row, counted.parameters / 1e6, y, mark=mark))
    return panels


def _our_points(
    paper: Paper,
    config: Config,
    found: Comparison | None,
    profile: ModelsProfile | None,
    measure: str,
) -> Panels:
    panels: dict[str, list[Point]] = {varied: [] for varied in LABELS}
    task, base_name = config.variations.task, config.variations.base
    base = _columns(config.models[base_name])
    for name, variation in found.models.items() if found else ():
        columns = _columns(config.models[name])
        measured: Measure = getattr(variation, measure)
        changed = {column for column in base if columns[column] != base[column]}
        counted = profile.models.get(name, {}).get(task) if profile else None
        printed = name in paper.table_3 and name != "base"
        mark = "base" if name == base_name else "" if printed else "own"
        moves = "" if name == base_name else agreement(measured.claim, measured.outcome)
        for varied in LABELS if mark == "base" else (varied_alone(changed),):
            if varied != "parameters":
                x = float(columns[varied])
            elif counted:
                x = counted.parameters / 1e6
            else:
                continue
            panels[varied].append(Point(name, x, measured.mean, measured.sd, mark, moves))
    return panels


def _columns(model: Model) -> dict[str, Any]:
    """Its columns of table 3."""
    return dict(model.replace(average=1, checkpoint_steps=1))


def _draw(printed: Panels, ours: Panels, label: str) -> str:
    with drawing(9.6, 4.6) as drawn:
        grid = drawn.figure.subplots(2, len(LABELS), sharey="row")
        for place, (panels, title) in enumerate(((printed, "paper"), (ours, "ours"))):
            for axes, (varied, points) in zip(grid[place], panels.items(), strict=True):
                _panel(axes, sorted(points, key=lambda point: point.x), varied, PALETTE[place])
                if place:
                    axes.set_xlabel(LABELS[varied])
            grid[place][0].set_ylabel(f"{title}: {label}")
    return drawn.svg


def _panel(axes: Axes, points: list[Point], varied: str, colour: str) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    series = [point for point in points if point.mark != "own"]
    # sizes of several columns at once are no series: only points
    line = "none" if varied == "parameters" else DASHES[0]
    x, y = [point.x for point in series], [point.y for point in series]
    axes.plot(x, y, color=colour, linestyle=line)
    for point in points:
        if point.sd is not None:
            axes.errorbar(point.x, point.y, yerr=point.sd, color=colour, linewidth=0.8)
            if point.mark == "base":
                axes.axhspan(point.y - point.sd, point.y + point.sd, color=colour, alpha=0.12)
        shape, size = MARKERS[point.mark]
        hollow = point.mark == "base" or point.moves == "undecided"
        axes.plot(
            [point.x], [point.y], marker=shape, markersize=size, color=colour,
            fillstyle="none" if hollow else "full",
        )  # fmt: skip
    places = sorted({point.x for point in points})
    if varied == "parameters":
        axes.xaxis.set_major_locator(MaxNLocator(4))
    elif places:
        if varied in ("h", "d_k"):
            axes.set_xscale("log", base=2)
        axes.set_xticks(places)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
