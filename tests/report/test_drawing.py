"""Heat maps are read back from the SVG: the picture in it, pixel by pixel."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from aiayn.report.drawing import PALETTE, draw_lines, drawing, heat_map

VERMILION, BLUE = (tuple(bytes.fromhex(PALETTE[n][1:])) for n in (1, 0))


def pixels(matrix: list[list[float]], *, diverging: bool = False) -> np.ndarray:
    """Red, green, blue and opacity by row and column."""
    with drawing(3, 3) as drawn:
        heat_map(drawn.figure.add_subplot(), matrix, diverging=diverging)
    (encoded,) = re.findall(r"data:image/png;base64,\s*([^\"]*)", drawn.svg)
    with Image.open(io.BytesIO(base64.b64decode(encoded))) as image:
        return np.asarray(image.convert("RGBA"))


def test_a_cell_is_a_pixel_whose_opacity_is_its_value() -> None:
    shown = pixels([[0.0, 0.25, 1.0], [0.5, 0.0, 0.75]])
    assert shown.shape == (2, 3, 4)
    assert shown[..., 3].tolist() == pytest.approx(np.array([[0, 64, 255], [128, 0, 191]]), abs=2)
    assert tuple(shown[0, 2, :3]) == BLUE


def test_negative_values_have_another_colour_and_the_same_opacity() -> None:
    below, zero, above = pixels([[-1.0, 0.0, 1.0]], diverging=True)[0]
    assert (tuple(below[:3]), tuple(above[:3])) == (VERMILION, BLUE)
    assert below[3] == above[3] == 255
    assert zero[3] <= 2


def test_lines_are_named_in_the_legend() -> None:
    data = pd.DataFrame({"x": [1, 2, 1, 2], "y": [1, 2, 3, 4], "run": ["a", "a", "b", "b"]})
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        draw_lines(axes, data, "x", "y", by="run")
        axes.legend()
    assert re.findall(r">(a|b)</text>", drawn.svg) == ["a", "b"]
