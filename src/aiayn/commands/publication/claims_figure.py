"""The paper's claims as a forest plot: the paper's effect, and ours with its interval.

Effects in the claimed direction point to the right: for a claim of "lower" the sign is flipped. The
plot is narrow enough for a phone, so each claim has a short label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from aiayn.config import Variations
from aiayn.evaluation.contrasts import Design
from aiayn.paper.findings import BLEU, PERPLEXITY, Measure, Statement, statements
from aiayn.paper.table_3 import ROWS
from aiayn.report.drawing import INK, PALETTE, PAPER, drawing
from aiayn.results.comparison import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS: Mapping[str, str] = {
    "one_head": "one head is worse",
    "many_heads": "too many heads are worse",
    "key_width": "smaller keys are worse",
    "layers": "more layers are better",
    "width": "a wider model is better",
    "inner_width": "a wider inner layer is better",
    "dropout": "dropout helps",
    "smoothing_perplexity": "label smoothing costs",
    "smoothing_bleu": "label smoothing helps",
    "positions_bleu": "learned positions: no change",
    "positions_perplexity": "learned positions: no change",
    "big": "the big model is better",
    "averaging": "averaging weights helps",
    "search": "beam search helps",
}
AXES: Mapping[Measure, str] = {BLEU: "BLEU", PERPLEXITY: "perplexity, %"}
BLUE, VERMILION, GREEN = PALETTE[:3]
GREY = "#8a8a88"
COLOURS = {
    "holds at this scale": ("holds", GREEN),
    "undecided": ("undecided", GREY),
    "does not hold at this scale": ("does not hold", VERMILION),
}
THEMES = {"light": ("#1f2328", "#ffffff"), "dark": ("#d1d7e0", "#0d1117")}
PADDING = {BLEU: 2.2, PERPLEXITY: 4.0}  # beyond the outermost dots; longer intervals get an arrow
ROW_INCHES = 0.2


class Claim(NamedTuple):
    """A line of the plot, in BLEU or per cent of perplexity, positive in the claimed direction.
    `paper` is None if the paper prints no figure, `margin` is None unless it claims equality."""

    label: str
    measure: Measure
    paper: float | None
    ours: float
    low: float
    high: float
    verdict: Verdict
    margin: float | None

    @property
    def is_as_claimed(self) -> bool:
        """Whether our effect has the claim's direction, or is within the margin of equality."""
        return self.ours > 0 if self.margin is None else abs(self.ours) <= self.margin


def claims(findings: pd.DataFrame, variations: Variations) -> list[Claim]:
    """The rows of results.findings with an effect, in the order of the scale's statements."""
    rows = {row["finding"]: row for row in findings.dropna(subset="effect").to_dict("records")}
    tested = statements(variations.measures)
    margins = Design.of(variations).margins
    return [
        _claim(key, statement, rows[key], margins)
        for key, statement in tested.items()
        if key in rows
    ]


def _claim(
    key: str, statement: Statement, found: Mapping[Any, Any], margins: Mapping[str, float]
) -> Claim:
    sign = -1 if statement.claim == "lower" else 1
    is_bleu = statement.measure == BLEU

    def shown(effect: float) -> float:
        return sign * (effect if is_bleu else 100 * (effect - 1))

    low, high = sorted((shown(found["low"]), shown(found["high"])))
    margin = None
    if statement.claim == "equal":
        margin = margins[statement.measure] * (1 if is_bleu else 100)
    printed = None if statement.over == "modes" else shown(_printed(statement))
    return Claim(
        LABELS[key], statement.measure, printed, shown(found["effect"]), low, high,
        found["verdict"], margin,
    )  # fmt: skip


def _printed(statement: Statement) -> float:
    """The effect in table 3 of the paper: a difference in BLEU or a ratio of perplexities."""
    if statement.measure == BLEU:
        return sum(w * ROWS[row].bleu.value for row, w in statement.rows.items())
    logarithms = (w * math.log(ROWS[row].perplexity.value) for row, w in statement.rows.items())
    return math.exp(sum(logarithms))


def draw(lines: Sequence[Claim], theme: str) -> str:
    """The plot as SVG.

    Args:
        lines: at least one.
        theme: a key of THEMES.
    """
    panels = {m: of for m in AXES if (of := [line for line in lines if line.measure == m])}
    height = ROW_INCHES * len(lines) + 0.42 * len(panels) + 0.45
    with drawing(4.2, height) as drawn:
        axes = drawn.figure.subplots(
            len(panels), squeeze=False, height_ratios=[len(of) for of in panels.values()]
        )[:, 0]
        for panel, (measure, of) in zip(axes, panels.items(), strict=True):
            _panel(panel, measure, of)
        handles, names = zip(*_legend(lines), strict=True)
        drawn.figure.legend(
            handles, names, loc="outside lower center", ncols=len(names), fontsize=8,
            handletextpad=0.3, columnspacing=1.2, handlelength=1.2,
        )  # fmt: skip
    ink, paper = THEMES[theme]
    return drawn.svg.replace(INK, ink).replace(PAPER, paper)


def _panel(axes: Axes, measure: Measure, lines: Sequence[Claim]) -> None:
    dots = [x for line in lines for x in (line.ours, line.paper or 0.0)]
    left, right = min(dots) - PADDING[measure], max(dots) + PADDING[measure]
    for y, line in enumerate(lines):
        colour = COLOURS[line.verdict][1]
        if line.margin is not None:
            axes.fill_between(
                (-line.margin, line.margin), y - 0.5, y + 0.5, color=INK, alpha=0.14, linewidth=0
            )
        axes.plot((max(line.low, left), min(line.high, right)), (y, y), color=colour, linewidth=2)
        if line.low < left:
            axes.plot(left, y, marker="<", color=colour, markersize=4, clip_on=False)
        if line.high > right:
            axes.plot(right, y, marker=">", color=colour, markersize=4, clip_on=False)
        axes.plot(line.ours, y, marker="o", color=colour, markersize=6)
        if line.paper is not None:
            axes.plot(line.paper, y, marker="|", color=INK, markersize=11, markeredgewidth=1.8)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlim(left, right)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_yticks(range(len(lines)), [line.label for line in lines])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:+.0f}".replace("-", "−") if x else "0")
    axes.set_xlabel(f"{AXES[measure]}, as the paper claims →", fontsize=8)


def _legend(lines: Sequence[Claim]) -> Iterator[tuple[object, str]]:
    from matplotlib.lines import Line2D

    verdicts = {line.verdict for line in lines}
    tick: dict[str, Any] = {"marker": "|", "markersize": 10, "markeredgewidth": 1.8}
    yield Line2D([], [], color=INK, linestyle="", **tick), "the paper"
    for verdict, (name, colour) in COLOURS.items():
        if verdict in verdicts:
            yield Line2D([], [], color=colour, marker="o", markersize=5), f"ours: {name}"
