"""Heat maps as vector pictures: few shades, and one path for all the cells of a shade."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aiayn.report.parts.drawing import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EDGES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8)  # what is weaker than the first is left blank
OVERLAP = 0.03  # of a cell: or a hair's breadth of the page shines through between neighbours

Rectangle = tuple[int, int, int, int]  # shade, row, first column, column after the last


def heat(axes: Axes, matrix: Sequence[Sequence[float]]) -> None:
    """Draw values between -1 and 1, row 0 on top: blue above zero, vermilion below, by strength."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for shade, row, begin, end in _rectangles(matrix):
        right, bottom = end + OVERLAP, row + 1 + OVERLAP
        corners[shade] += [(begin, row), (right, row), (right, bottom), (begin, bottom)]
        corners[shade].append((begin, row))
    for shade in sorted(corners):
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * (len(corners[shade]) // 5)
        axes.add_patch(PathPatch(Path(corners[shade], codes), **_look(shade)))
    axes.set_xlim(0, len(matrix[0]))
    axes.set_ylim(len(matrix), 0)
    axes.grid(visible=False)


def legend(figure: Figure, *, diverging: bool) -> None:
    """The shades, above everything else."""
    from matplotlib.patches import Patch

    shades = range(1, len(EDGES) + 1)
    signed = [*(-shade for shade in reversed(shades)), *shades] if diverging else [*shades]
    handles = [Patch(label=_label(shade), **_look(shade)) for shade in signed]
    columns = len(EDGES) if figure.get_figwidth() > 5 else len(EDGES) // 2
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, fontsize=7)


def _shade(value: float) -> int:
    """How many EDGES the value reaches, negative below zero."""
    reached = bisect_right(EDGES, abs(value))
    return reached if value > 0 else -reached


def _rectangles(matrix: Sequence[Sequence[float]]) -> Iterator[Rectangle]:
    """Neighbours of one shade in a row are one rectangle; blank ones are left out."""
    for row, values in enumerate(matrix):
        begin = 0
        for shade, cells in groupby(values, key=_shade):
            end = begin + len(list(cells))
            if shade:
                yield shade, row, begin, end
            begin = end


def _look(shade: int) -> dict[str, Any]:
    strength = (0.1, 0.2, 0.38, 0.58, 0.78, 1.0)[abs(shade) - 1]
    return {"facecolor": PALETTE[shade < 0], "alpha": strength, "linewidth": 0}


def _label(shade: int) -> str:
    low = EDGES[abs(shade) - 1]
    high = (*EDGES, 1.0)[abs(shade)]
    return f"{low:g} to {high:g}" if shade > 0 else f"−{low:g} to −{high:g}"
