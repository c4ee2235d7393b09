"""Heat maps are read back from the SVG: the filled area of each shade."""

from __future__ import annotations

import re

import pytest

from aiayn.report.drawing import (
    PALETTE,
    SHADES,
    drawing,
    heat_map,
    heat_map_legend,
)

RECTANGLE = re.compile(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H\1z")


def filled(svg: str) -> list[tuple[str, float, int]]:
    """Colour, opacity and number of rectangles of each shade."""
    found = []
    for path, style in re.findall(r'<path d="([^"]*)"[^>]*style="([^"]*)"', svg):
        colour = re.search(r"fill: (#[0-9a-f]{6})", style)
        if colour and colour[1] in PALETTE:
            opacity = re.search(r"opacity: ([\d.]+)", style)
            found.append((colour[1], float(opacity[1]) if opacity else 1.0, path))
    return [(colour, opacity, len(RECTANGLE.findall(path))) for colour, opacity, path in found]


def draw(matrix: list[list[float]]) -> str:
    with drawing(3, 3) as drawn:
        heat_map(drawn.figure.add_subplot(), matrix)
    return drawn.svg


def test_a_shade_is_one_path_and_neighbours_are_one_rectangle() -> None:
    svg = draw([[1.0, 1.0, 0.0, 0.9], [0.0, 0.3, 0.3, 0.3], [0.0, 0.0, 0.0, 0.0]])
    assert sorted(filled(svg)) == [(PALETTE[0], 0.38, 1), (PALETTE[0], 1.0, 2)]


def test_below_zero_has_another_colour_and_equal_strength_equal_opacity() -> None:
    (below, above) = sorted(filled(draw([[0.5, 0.0, -0.5]])), reverse=True)
    assert {below[0], above[0]} == {PALETTE[0], PALETTE[1]}
    assert below[1] == above[1]


@pytest.mark.parametrize("value", [0.0, SHADES[0] - 1e-6, -SHADES[0] + 1e-6])
def test_what_is_weak_is_blank(value: float) -> None:
    assert filled(draw([[value] * 3] * 3)) == []


def test_the_legend_names_every_shade() -> None:
    with drawing(6, 3) as drawn:
        drawn.figure.add_subplot()
        heat_map_legend(drawn.figure, diverging=True)
    assert drawn.svg.count(" to ") == 2 * len(SHADES)
    assert "−0.8 to −1" in drawn.svg
