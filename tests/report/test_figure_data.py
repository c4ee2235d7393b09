"""The data- attributes of a figure give back the values that were drawn."""

from __future__ import annotations

import html
import json
import re

import pandas as pd
import pytest

from aiayn.report.drawing import draw_lines, drawing

DATA = pd.DataFrame(
    {
        "step": [1, 10, 100, 1, 10, 100],
        "loss": [9.5, 4.25, 2.0, 8.0, 4.0, 3.5],
        "run": ["<a>"] * 3 + ["b"] * 3,
    }
)


def groups(svg: str, attribute: str) -> list[str]:
    return [html.unescape(value) for value in re.findall(rf' data-{attribute}="([^"]*)"', svg)]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_coordinates_are_turned_into_values(scale: str) -> None:
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        axes.set(xscale=scale, xlabel="steps")
        draw_lines(axes, DATA, "step", "loss", by="run")
        axes.legend()
    assert groups(drawn.svg, "series") == ["<a>", "b"]
    assert sorted(groups(drawn.svg, "key")) == ["<a>", "<a>", "b", "b"]  # a line and its name
    (x,), (y,) = (map(json.loads, groups(drawn.svg, which)) for which in "xy")
    assert (x["label"], y["label"], x["scale"]) == ("steps", "", scale)
    (path,) = re.findall(r'data-series="b">\s*<path d="([^"]*)"', drawn.svg)
    found = []
    for corner in re.findall(r"[ML] (\S+) (\S+)", path):
        for axis, coordinate in zip((x, y), map(float, corner), strict=True):
            (first, last), (begin, end) = axis["limits"], axis["points"]
            fraction = (coordinate - begin) / (end - begin)
            found.append(
                first * (last / first) ** fraction
                if axis["scale"] == "log"
                else first + (last - first) * fraction
            )
    drawn_values = DATA[DATA["run"] == "b"][["step", "loss"]].to_numpy().flatten()
    assert found == pytest.approx(drawn_values, rel=1e-3, abs=0.02)


def test_a_panel_without_labels_has_those_of_its_row_and_column() -> None:
    with drawing() as drawn:
        grid = drawn.figure.subplots(2, 2)
        for axes in grid.flat:
            draw_lines(axes, DATA, "step", "loss", by="run")
        for n in (0, 1):
            grid[1][n].set_xlabel(f"column {n}")
            grid[n][0].set_ylabel(f"row {n}")
    labels = [[json.loads(panel)["label"] for panel in groups(drawn.svg, which)] for which in "xy"]
    assert labels == [["column 0", "column 1"] * 2, ["row 0", "row 0", "row 1", "row 1"]]


def test_words_on_an_axis_are_named() -> None:
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        draw_lines(axes, DATA.assign(step=["1–3", "4–6", "7"] * 2), "step", "loss", by="run")
    assert json.loads(groups(drawn.svg, "x")[0])["names"] == ["1–3", "4–6", "7"]


def test_a_line_without_a_label_is_not_changed() -> None:
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        axes.plot([1, 2], [3, 4])
        axes.axvline(1.5)
    assert " data-" not in drawn.svg
