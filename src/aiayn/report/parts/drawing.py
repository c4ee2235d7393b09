"""How every figure is drawn: SVG, vector, small, the same bytes on every machine.

Text stays text, so that it can be read aloud and searched. Colours are Okabe and Ito's palette,
which colour-blind readers can tell apart. INK and PAPER are stand-ins of their own: the page
replaces them by the colours of its light or dark dress.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, PAPER = "#2b2b2a", "#fffffe"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
DASHES = ("-", (0, (4, 1.6)), (0, (1, 1.4)), (0, (6, 1.6, 1, 1.6)))
# as matplotlib writes it
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
    """A figure of `width` x `height` inches in the house's style, to draw on inside the block."""
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
            # the reader's fonts show the text, whatever script it is in; ours only measures it
            warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
            canvas.print_svg(text, metadata={"Date": None, "Creator": None})
        drawn.svg = re.sub(r'(?<= d=")[^"]*', _shortened, text.getvalue())


def _shortened(path: re.Match[str]) -> str:
    """The same path in a third of the bytes: a hundredth of a point is finer than any screen."""
    return RECTANGLE.sub(r"M\1 \2H\3V\4H\1z", re.sub(r"(\.\d\d)\d+", r"\1", path[0]))
