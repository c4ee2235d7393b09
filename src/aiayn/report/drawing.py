"""How every figure is drawn: as SVG, small, with the same bytes on every machine.

Text stays text, so that it can be read aloud and searched. The colours are Okabe and Ito's palette,
which colour-blind readers can distinguish. INK and PAPER are placeholders that the page replaces by
the colours of its light or dark theme.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aiayn.report.figure_data import name_groups, with_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PAPER = "#2b2b2a", "#fffffe"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
DASHES = ("-", (0, (4, 1.6)), (0, (1, 1.4)), (0, (6, 1.6, 1, 1.6)))
MARKERS = ("o", "s", "^")
STYLE: Mapping[str, object] = {
    "svg.hashsalt": "aiayn",
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": INK,
    "grid.alpha": 0.14,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": "auto",
    "legend.frameon": False,
    "path.simplify": False,  # every data point stays a corner of its line, for the page's script
}


@dataclass
class Drawing:
    """A matplotlib figure to draw on; `svg` is there once the block of `drawing` has ended."""

    figure: Figure
    svg: str = ""


@contextmanager
def drawing(width: float = 6.4, height: float = 3.3) -> Iterator[Drawing]:
    """A figure of `width` x `height` inches in the report's style, to draw on inside the block."""
    import matplotlib.style
    from matplotlib.figure import Figure

    # "default" first: a reader's own matplotlibrc must not change the figures
    with matplotlib.style.context(["default", dict(STYLE)]):
        drawn = Drawing(Figure(figsize=(width, height), layout="constrained"))
        yield drawn
        drawn.svg = to_svg(drawn.figure)


def to_svg(figure: Figure) -> str:
    """A figure as SVG, the same bytes on every machine."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas: Any = FigureCanvasSVG(figure)
    attributes = name_groups(figure)
    text = io.StringIO()
    with warnings.catch_warnings():
        # the reader's fonts show the text, whatever its script; the font here only measures it
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        canvas.print_svg(text, metadata={"Date": None, "Creator": None})
    svg = with_data(text.getvalue(), figure, attributes)
    # a hundredth of a point is finer than any screen
    return re.sub(r'(?<= d=")[^"]*', _two_decimals, svg)


def line_style(number: int, *, markers: bool = False) -> dict[str, Any]:
    """How line `number` (from 0) is plotted: lines differ in dash as well as in colour."""
    style = {"color": PALETTE[number % len(PALETTE)], "linestyle": DASHES[number % len(DASHES)]}
    return style | ({"marker": MARKERS[number % 2], "markersize": 4} if markers else {})


def draw_lines(
    axes: Axes, data: pd.DataFrame, x: str, y: str, by: str, *, markers: bool = False
) -> None:
    """A line for each value of the column `by`, which names it in the legend."""
    for number, (name, line) in enumerate(data.groupby(by, sort=False)):
        style = line_style(number, markers=markers)
        axes.plot(line[x], line[y], label=str(name), **style)


def heat_map(
    axes: Axes, matrix: Sequence[Sequence[float]] | np.ndarray, *, diverging: bool = False
) -> Any:
    """Draw values from 0 to 1, or -1 to 1 where they diverge: row 0 on top, zero transparent.

    Returns:
        what a colour bar is made of.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    blue, vermilion = PALETTE[:2]
    stops = [to_rgba(blue, 0), to_rgba(blue)]
    if diverging:
        stops.insert(0, to_rgba(vermilion))
    rows, columns = len(matrix), len(matrix[0])
    image = axes.imshow(
        matrix, cmap=LinearSegmentedColormap.from_list("weights", stops),
        vmin=-1 if diverging else 0, vmax=1, aspect="auto", interpolation="none",
        extent=(0, columns, rows, 0),
    )  # fmt: skip
    axes.grid(visible=False)
    return image


def _two_decimals(path: re.Match[str]) -> str:
    return re.sub(r"(\.\d\d)\d+", r"\1", path[0])
