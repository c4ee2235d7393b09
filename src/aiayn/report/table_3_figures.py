"""Table 3 as pictures: what each variation does to BLEU and perplexity, in the paper and here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiayn.config import Config
from aiayn.report.drawing import DASHES, PALETTE, drawing
from aiayn.report.paper import Paper
from aiayn.report.profiles import ModelsProfile
from aiayn.report.section import Figure
from aiayn.report.variations import Variations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# what is varied, and the rows in which it is all that varies
GROUPS: Mapping[str, tuple[str, ...]] = {
    "parameters": (
        "C_N2", "C_N4", "base", "C_N8", "C_d256", "C_d1024", "C_ff1024", "C_ff4096", "big",
    ),
    "h": ("A_h1", "A_h4", "base", "A_h16", "A_h32"),
    "d_k": ("B_dk16", "B_dk32", "base"),
    "P_drop": ("D_drop00", "base", "D_drop02"),
    "eps_ls": ("D_smooth00", "base", "D_smooth02"),
}  # fmt: skip
LABELS = {
    "parameters": "parameters, millions",
    "h": "heads h",
    "d_k": "key width d_k",
    "P_drop": "dropout P_drop",
    "eps_ls": "label smoothing eps_ls",
}
MEASURES = {"bleu": "BLEU, dev", "perplexity": "perplexity, dev"}


@dataclass(frozen=True)
class Point:
    """A row at its place on a panel's axis."""

    row: str
    x: float
    y: float
    sd: float | None = None


Panels = Mapping[str, list[Point]]


def figures(
    paper: Paper, config: Config, found: Variations | None, profile: ModelsProfile | None
) -> Iterator[Figure]:
    """BLEU and perplexity against what the rows vary: the paper's above, ours below."""
    for measure, label in MEASURES.items():
        printed = _paper_points(paper, profile, measure)
        ours = _our_points(config, found, profile, measure)
        if not any(ours.values()):
            continue
        yield Figure(
            name=f"table_3_{measure}",
            title=f"{label.partition(',')[0].capitalize()} of table 3's variations"
            if measure != "bleu"
            else "BLEU of table 3's variations",
            caption="Above the paper's figures (newstest2013), below ours at this scale; each has "
            "its own axis, for the two were measured on other text and by models of other sizes. "
            "A ring is the base. Bars are standard deviations over seeds, where there are several.",
            svg=_draw(printed, ours, label),
            records=[
                {
                    "origin": origin, "varied": varied, "row": point.row, "x": f"{point.x:g}",
                    measure: f"{point.y:g}", "sd": f"{point.sd:g}" if point.sd is not None else "",
                }
                for origin, panels in (("paper", printed), ("ours", ours))
                for varied, points in panels.items()
                for point in points
            ],
        )  # fmt: skip


def _paper_points(paper: Paper, profile: ModelsProfile | None, measure: str) -> Panels:
    base = paper.table_3["base"].columns
    panels: dict[str, list[Point]] = {}
    for varied, rows in GROUPS.items():
        panels[varied] = []
        for row in rows:
            printed = paper.table_3[row]
            y = getattr(printed, measure).value
            if varied == "parameters":
                counted = profile.paper.get(row) if profile else None
                if counted:
                    panels[varied].append(Point(row, counted.parameters / 1e6, y))
            else:
                columns = {**base, **printed.columns}
                panels[varied].append(Point(row, columns[varied].value, y))
    return panels


def _our_points(
    config: Config, found: Variations | None, profile: ModelsProfile | None, measure: str
) -> Panels:
    panels: dict[str, list[Point]] = {varied: [] for varied in GROUPS}
    for varied, rows in GROUPS.items():
        for row in rows:
            name = config.variations.base if row == "base" else row
            variation = found.models.get(name) if found else None
            if variation is None:
                continue
            measured = getattr(variation, measure)
            if varied == "parameters":
                cost = profile.models.get(name, {}).get(config.variations.task) if profile else None
                x = cost.parameters / 1e6 if cost else None
            else:
                column = "key_width" if varied == "d_k" else varied
                x = float(getattr(config.models[name], column))
            if x is not None:
                panels[varied].append(Point(row, x, measured.mean, measured.sd))
    return panels


def _draw(printed: Panels, ours: Panels, label: str) -> str:
    with drawing(9.6, 4.6) as drawn:
        grid = drawn.figure.subplots(2, len(GROUPS), sharey="row")
        for place, (panels, title) in enumerate(((printed, "paper"), (ours, "ours"))):
            for axes, (varied, points) in zip(grid[place], panels.items(), strict=True):
                _panel(axes, sorted(points, key=lambda point: point.x), varied, PALETTE[place])
                if place:
                    axes.set_xlabel(LABELS[varied])
            grid[place][0].set_ylabel(f"{title}: {label}")
    return drawn.svg


def _panel(axes: Axes, points: list[Point], varied: str, colour: str) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    x, y = [point.x for point in points], [point.y for point in points]
    # sizes of several columns at once are no series: only points
    line = "none" if varied == "parameters" else DASHES[0]
    axes.plot(x, y, color=colour, linestyle=line, marker="o", markersize=3.5)
    for point in points:
        if point.sd is not None:
            axes.errorbar(point.x, point.y, yerr=point.sd, color=colour, linewidth=0.8)
        if point.row == "base":
            axes.plot(
                [point.x], [point.y], marker="o", markersize=9, color=colour, fillstyle="none"
            )
    if varied in ("parameters", "h", "d_k"):
        axes.set_xscale("log", base=2 if varied != "parameters" else 10)
        if varied != "parameters":
            axes.set_xticks(x)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    elif x:
        axes.set_xticks(x)
