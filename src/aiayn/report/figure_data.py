"""What the page's script needs to know of a figure, as data- attributes of its SVG's groups.

`data-series` names a line, its marks or a bar; `data-key` is its entry in a legend; `data-x` and
`data-y` of a panel turn coordinates back into values, so no value is written twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from markupsafe import escape

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS_PER_INCH = 72


def name_groups(figure: Figure) -> dict[str, Mapping[str, str]]:
    """Give every labelled artist and legend entry an id; their attributes by id. To call before the
    figure is printed."""
    attributes: dict[str, Mapping[str, str]] = {}
    number = count()

    def name(artist: Artist, **attribute: str) -> None:
        artist.set_gid(f"data_{next(number)}")
        attributes[str(artist.get_gid())] = attribute

    for axes in figure.axes:
        for artist, label in _series(axes):
            name(artist, series=label)
    legends = [*figure.legends, *(legend for axes in figure.axes if (legend := axes.get_legend()))]
    for legend in legends:
        for handle, entry in zip(legend.legend_handles, legend.get_texts(), strict=True):
            name(entry, key=entry.get_text())
            if handle is not None:
                name(handle, key=entry.get_text())
    return attributes


def with_data(svg: str, figure: Figure, attributes: Mapping[str, Mapping[str, str]]) -> str:
    """The printed figure with the attributes in place of the ids."""
    panels = {
        f"axes_{n}": _panel(figure, axes) for n, axes in enumerate(figure.axes, 1) if _series(axes)
    }

    def replaced(group: re.Match[str]) -> str:
        found = attributes.get(group[1]) or panels.get(group[1])
        if found is None:
            return group[0]
        return "<g " + " ".join(f'data-{key}="{escape(found[key])}"' for key in found) + ">"

    return re.sub(r'<g id="([^"]+)">', replaced, svg)


def _series(axes: Axes) -> list[tuple[Artist, str]]:
    """Lines, marks and bars that have a label, with it."""
    found: list[tuple[Artist, Any]] = [(a, a.get_label()) for a in (*axes.lines, *axes.collections)]
    for bars in axes.containers:
        found += [(bar, bars.get_label()) for bar in getattr(bars, "patches", ())]
    return [(artist, label) for artist, label in found if not label.startswith("_")]


def _panel(figure: Figure, axes: Axes) -> dict[str, str]:
    width, height = figure.get_size_inches() * POINTS_PER_INCH
    box = axes.get_position()
    across, down = (box.x0 * width, box.x1 * width), ((1 - box.y0) * height, (1 - box.y1) * height)
    return {"x": _axis(axes, "x", across), "y": _axis(axes, "y", down)}


def _axis(axes: Axes, which: str, ends: tuple[float, float]) -> str:
    """One axis as JSON: its scale, the values at both ends and where in the SVG these are."""
    from matplotlib.category import StrCategoryFormatter

    axis = getattr(axes, f"{which}axis")
    described = {
        "scale": axis.get_scale(),
        "limits": [float(f"{value:.8g}") for value in axis.get_view_interval()],
        "points": [round(float(point), 4) for point in ends],
        "label": _label(axes, which),
    }
    if isinstance(axis.get_major_formatter(), StrCategoryFormatter):
        described["names"] = [tick.get_text() for tick in axis.get_ticklabels()]
    return json.dumps(described, ensure_ascii=False)


def _label(axes: Axes, which: str) -> str:
    """Its own, or that of a panel in the same column (x) or row (y) of the grid."""
    span = {"x": "colspan", "y": "rowspan"}[which]

    def place(panel: Axes) -> Any:
        return getattr(panel.get_subplotspec(), span, None)

    for panel in (axes, *axes.figure.axes):
        label = getattr(panel, f"{which}axis").get_label_text()
        if label and place(panel) == place(axes):
            return str(label)
    return ""
