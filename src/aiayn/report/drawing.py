"""How every figure is drawn: as SVG, small, with the same bytes on every machine.

Text stays text, so that it can be read aloud and searched. The colours are Okabe and Ito's palette,
which colour-blind readers can distinguish. INK and PAPER are placeholders that the page replaces by
the colours of its light or dark theme.
"""

from __future__ import annotations

import io
import re
import warnings
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PAPER = "#2b2b2a", "#fffffe"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
DASHES = ("-", (0, (4, 1.6)), (0, (1, 1.4)), (0, (6, 1.6, 1, 1.6)))
MARKERS = ("o", "s", "^")
# absolute values at which the shades of a heat map begin; weaker cells stay blank
SHADES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
OPACITIES = (0.1, 0.2, 0.38, 0.58, 0.78, 1.0)
OVERLAP = 0.03  # of a cell, or the background would shine through between neighbours
# a rectangle as matplotlib writes it
RECTANGLE = re.compile(r"M (\S+) (\S+) \nL (\S+) \2 \nL \3 (\S+) \nL \1 \4 \n(?:L \1 \2 \n)?z")
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
}


class Drawing:
    """A matplotlib figure to draw on; `svg` is there once the block of `drawing` has ended."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.svg = ""


@contextmanager
def drawing(width: float = 6.4, height: float = 3.3) -> Iterator[Drawing]:
    """A figure of `width` x `height` inches in the report's style, to draw on inside the block."""
    import matplotlib.style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # "default" first: a reader's own matplotlibrc must not change the figures
    with matplotlib.style.context(["default", dict(STYLE)]):
        drawn = Drawing(Figure(figsize=(width, height), layout="constrained"))
        canvas: Any = FigureCanvasSVG(drawn.figure)
        yield drawn
        text = io.StringIO()
        with warnings.catch_warnings():
            # the reader's fonts show the text, whatever its script; the font here only measures it
            warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
            canvas.print_svg(text, metadata={"Date": None, "Creator": None})
        drawn.svg = re.sub(r'(?<= d=")[^"]*', _shortened, text.getvalue())


def _shortened(path: re.Match[str]) -> str:
    """The same path in a third of the bytes: a hundredth of a point is finer than any screen."""
    return RECTANGLE.sub(r"M\1 \2H\3V\4H\1z", re.sub(r"(\.\d\d)\d+", r"\1", path[0]))


def line_style(number: int, *, markers: bool = False) -> dict[str, Any]:
    """How line `number` (from 0) is plotted: lines differ in dash as well as in colour."""
    style = {"color": PALETTE[number % len(PALETTE)], "linestyle": DASHES[number % len(DASHES)]}
    return style | ({"marker": MARKERS[number % 2], "markersize": 4} if markers else {})


def legend_label(run: str) -> str:
    """A run's name, which matplotlib would leave out of the legend if it began with "_"."""
    return run.lstrip("_")


def heat_map(axes: Axes, matrix: Sequence[Sequence[float]]) -> None:
    """Draw values between -1 and 1, row 0 on top: blue above zero, vermilion below.

    All cells of a shade are one path, and neighbours of a shade in a row are one rectangle.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for row, values in enumerate(matrix):
        begin = 0
        for shade, cells in groupby(values, key=_shade):
            end = begin + len(list(cells))
            if shade:
                right, bottom = end + OVERLAP, row + 1 + OVERLAP
                corners[shade] += [(begin, row), (right, row), (right, bottom), (begin, bottom)]
                corners[shade].append((begin, row))
            begin = end
    for shade in sorted(corners):
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * (len(corners[shade]) // 5)
        axes.add_patch(PathPatch(Path(corners[shade], codes), **_shade_style(shade)))
    axes.set_xlim(0, len(matrix[0]))
    axes.set_ylim(len(matrix), 0)
    axes.grid(visible=False)


def heat_map_legend(figure: Figure, *, diverging: bool) -> None:
    """The shades, above everything else."""
    from matplotlib.patches import Patch

    shades = range(1, len(SHADES) + 1)
    signed = [*(-shade for shade in reversed(shades)), *shades] if diverging else [*shades]
    handles = [Patch(label=_shade_label(shade), **_shade_style(shade)) for shade in signed]
    columns = len(SHADES) if figure.get_figwidth() > 5 else len(SHADES) // 2
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, fontsize=7)


def _shade(value: float) -> int:
    """How many of SHADES the value reaches, negative below zero."""
    reached = bisect_right(SHADES, abs(value))
    return reached if value > 0 else -reached


def _shade_style(shade: int) -> dict[str, Any]:
    return {"facecolor": PALETTE[shade < 0], "alpha": OPACITIES[abs(shade) - 1], "linewidth": 0}


def _shade_label(shade: int) -> str:
    low, high = SHADES[abs(shade) - 1], (*SHADES, 1.0)[abs(shade)]
    return f"{low:g} to {high:g}" if shade > 0 else f"−{low:g} to −{high:g}"
