"""The paper's claims as a forest plot: the paper's effect, and ours with its interval.

Effects in the claimed direction point to the right: for a claim of "lower" the sign is flipped. The
plot is narrow enough for a phone, so each claim has a short label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from aiayn.evaluation.contrasts import DECIMALS, Design
from aiayn.paper.findings import BLEU, PERPLEXITY, Measure, Statement, statements
from aiayn.paper.table_3 import ROWS
from aiayn.report.drawing import INK, PALETTE, drawing
from aiayn.report.evidence import Evidence
from aiayn.report.section import Figure
from aiayn.results.comparison import Effect, Verdict

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
COLOURS: Mapping[str, tuple[str, str]] = {
    "holds at this scale": ("ours: holds", GREEN),
    "undecided": ("ours: undecided", GREY),
    "does not hold at this scale": ("ours: does not hold", VERMILION),
}
THE_PAPER = "the paper"
PADDING = {BLEU: 2.2, PERPLEXITY: 4.0}  # beyond the outermost dots; longer intervals get an arrow
TICK: Mapping[str, Any] = {"marker": "|", "markersize": 11, "markeredgewidth": 1.8}
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


def figures(evidence: Evidence) -> Iterator[Figure]:
    """One, if a claim was tested."""
    if tested := claims(evidence):
        yield Figure(
            name="claims",
            title="The paper's effects and ours",
            caption="The paper's effect is a tick, ours a dot with its interval; to the right is "
            "what the paper claims. The band is the margin of a claim of equality. An arrow means "
            "that the interval goes on. Models and text differ from the paper's, so sizes of "
            "effects may too.",
            svg=draw(tested),
            data=pd.DataFrame(tested).round(DECIMALS),
        )


def claims(evidence: Evidence) -> list[Claim]:
    """The statements with an effect, in the order of the scale's statements."""
    variations, compared = evidence.config.variations, evidence.variations
    margins = Design.of(variations).margins
    found = compared.findings if compared else {}
    return [
        _claim(key, statement, effect, found[key].verdict, margins)
        for key, statement in statements(variations.measures).items()
        if key in found and (effect := found[key].effect)
    ]


def _claim(
    key: str,
    statement: Statement,
    effect: Effect,
    verdict: Verdict,
    margins: Mapping[str, float],
) -> Claim:
    sign = -1 if statement.claim == "lower" else 1
    is_bleu = statement.measure == BLEU

    def shown(number: float) -> float:
        return sign * (number if is_bleu else 100 * (number - 1))

    low, high = sorted((shown(effect.low), shown(effect.high)))
    margin = None
    if statement.claim == "equal":
        margin = margins[statement.measure] * (1 if is_bleu else 100)
    printed = None if statement.over == "modes" else shown(_printed(statement))
    return Claim(
        LABELS[key], statement.measure, printed, shown(effect.value), low, high, verdict, margin
    )


def _printed(statement: Statement) -> float:
    """The effect in table 3 of the paper: a difference in BLEU or a ratio of perplexities."""
    if statement.measure == BLEU:
        return sum(w * ROWS[row].bleu.value for row, w in statement.rows.items())
    logarithms = (w * math.log(ROWS[row].perplexity.value) for row, w in statement.rows.items())
    return math.exp(sum(logarithms))


def draw(lines: Sequence[Claim]) -> str:
    """The plot of at least one claim, as SVG in INK on PAPER."""
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
    return drawn.svg


def _panel(axes: Axes, measure: Measure, lines: Sequence[Claim]) -> None:
    dots = [x for line in lines for x in (line.ours, line.paper or 0.0)]
    left, right = min(dots) - PADDING[measure], max(dots) + PADDING[measure]
    for y, line in enumerate(lines):
        _line(axes, y, line, (left, right))
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlim(left, right)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:+.0f}".replace("-", "−") if x else "0")
    axes.set_xlabel(f"{AXES[measure]}, as the paper claims →", fontsize=8)


def _line(axes: Axes, y: int, line: Claim, limits: tuple[float, float]) -> None:
    """One claim, `y` lines from the top; `limits` are those of the axis."""
    left, right = limits
    name, colour = COLOURS[line.verdict]

    def plot(*x: float, **style: Any) -> None:
        axes.plot(x, [line.label] * len(x), **{"color": colour, **style})

    if line.margin is not None:
        axes.fill_between(
            (-line.margin, line.margin), y - 0.5, y + 0.5, color=INK, alpha=0.14, linewidth=0
        )
    plot(max(line.low, left), min(line.high, right), linewidth=2)
    if line.low < left:
        plot(left, marker="<", markersize=4, clip_on=False)
    if line.high > right:
        plot(right, marker=">", markersize=4, clip_on=False)
    plot(line.ours, marker="o", markersize=6, label=name)
    if line.paper is not None:
        plot(line.paper, color=INK, linestyle="", label=THE_PAPER, **TICK)


def _legend(lines: Sequence[Claim]) -> Iterator[tuple[object, str]]:
    from matplotlib.lines import Line2D

    verdicts = {line.verdict for line in lines}
    yield Line2D([], [], color=INK, linestyle="", **TICK), THE_PAPER
    for verdict, (name, colour) in COLOURS.items():
        if verdict in verdicts:
            yield Line2D([], [], color=colour, marker="o", markersize=5), name
