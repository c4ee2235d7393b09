"""Attention maps of one sentence, and what each head attends to on average."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import escape

from aiayn.report.drawing import MARKERS, PALETTE, drawing, heat_map
from aiayn.report.section import Figure
from aiayn.results.illustrations import AttentionMaps, read_attention, read_table
from aiayn.results.json_files import if_there

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 8  # of heads
INCHES = 1.25  # a map's width and height
KINDS = {
    "encoder": "Encoder self-attention: pieces of the source attend to each other",
    "decoder": "Decoder self-attention: pieces written attend to earlier ones",
    "cross": "Cross attention: pieces written attend to the source",
}
READING = "A row is a piece that attends, a column a piece attended to; a row sums to 1."


def attention_figures(path: Path) -> Iterator[Figure]:
    """A figure for each kind of attention in attention.json; none where that is not there.

    Raises:
        DataError: the file was not written by the stage illustrate.
    """
    maps = if_there(read_attention, path)
    if maps is None:
        return
    for kind in KINDS:
        yield attention_figure(maps, kind)


def attention_figure(maps: AttentionMaps, kind: str, name: str = "") -> Figure:
    """The maps of all heads of a kind of attention, which the CSV has weight by weight.

    Args:
        name: of the figure; default: attention_KIND.
    """
    if maps.target:
        title = KINDS[kind]
        about = f"{maps.run} reading “{maps.sentence}” and writing “{maps.translation}”."
    else:
        title = "Encoder self-attention in a classified sentence"
        about = f"{maps.run} reading “{maps.sentence}”, which it labels {maps.translation}."
    return Figure(
        name=name or f"attention_{kind}",
        title=title,
        caption=f"{about} {READING}",
        svg=draw_attention(maps, kind),
        data=maps.frame(kind),
    )


@dataclass(frozen=True)
class Head:
    """One head, for the page to show large: pieces that attend, and to which, with the weights."""

    run: str
    layer: int
    number: int
    queries: Sequence[str]
    keys: Sequence[str]
    weights: Sequence[Sequence[float]]


def focused_head(path: Path) -> Head | None:
    """The head of cross attention with the least entropy; None where attention.json is not there.

    Raises:
        DataError: the file was not written by the stage illustrate.
    """
    maps = if_there(read_attention, path)
    if maps is None:
        return None
    heads = {
        (layer, number): weights
        for layer, matrices in enumerate(maps.layers("cross"), 1)
        for number, weights in enumerate(matrices, 1)
    }
    layer, number = chosen = min(heads, key=lambda head: _entropy(heads[head]))
    queries, keys = _shown(maps.queries("cross")), _shown(maps.keys("cross"))
    return Head(maps.run, layer, number, queries, keys, heads[chosen])


def _entropy(weights: Sequence[Sequence[float]]) -> float:
    """In bits, the mean over the pieces that attend."""
    matrix = np.array(weights)
    return float(-np.sum(matrix * np.log2(np.maximum(matrix, 1e-12)), axis=1).mean())


def _shown(pieces: Sequence[str]) -> list[str]:
    """Pieces of the vocabulary without the sign of the space before them."""
    return [piece.replace("▁", " ").strip() or "␣" for piece in pieces]


def draw_attention(maps: AttentionMaps, kind: str) -> str:
    """SVG: heads from left to right, layers from top to bottom; a layer may take several rows."""
    layers = maps.layers(kind)
    heads = len(layers[0])
    columns = min(heads, COLUMNS)
    rows = len(layers) * -(-heads // columns)
    with drawing(max(5.0, INCHES * columns + 0.8), INCHES * rows + 0.9) as drawn:
        grid = drawn.figure.subplots(rows, columns, squeeze=False)
        for layer, panels in enumerate(grid.reshape(len(layers), -1)):
            for head, axes in enumerate(panels):
                if head >= heads:
                    axes.set_axis_off()
                    continue
                image = heat_map(axes, layers[layer][head])
                axes.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=6.5, pad=2)
                _label_pieces(axes, maps, kind)
        drawn.figure.colorbar(image, ax=grid, fraction=0.02, label="attention weight")
    return drawn.svg


def single_head_figure(maps: AttentionMaps, kind: str, layer: int, head: int) -> Figure:
    """One head, large; where the SVG is a document of its own, a pointer shows each weight.

    Args:
        layer, head: counted from 1.
    """
    matrix = maps.layers(kind)[layer - 1][head - 1]
    queries, keys = _shown(maps.queries(kind)), _shown(maps.keys(kind))
    tips = {}
    with drawing(0.5 * len(keys) + 1.4, 0.32 * len(queries) + 0.9) as drawn:
        axes = drawn.figure.add_subplot()
        heat_map(axes, matrix)
        axes.set_xticks([n + 0.5 for n in range(len(keys))], keys, rotation=45)
        axes.set_yticks([n + 0.5 for n in range(len(queries))], queries)
        axes.tick_params(length=0)
        axes.set(xlabel="attended to", ylabel="attends")
        for row, query in enumerate(queries):
            for column, key in enumerate(keys):
                name = f"weight_{row}_{column}"
                tips[name] = f"{query} → {key}: {matrix[row][column]:.3f}"
                axes.bar(column + 0.5, 1, 1, row, color="none", gid=name)
        axes.set(xlim=(0, len(keys)), ylim=(len(queries), 0))
    data = maps.frame(kind).query(f"layer == {layer} and head == {head}")
    return Figure(
        name=f"attention_{kind}_{layer}_{head}",
        title=f"{kind.capitalize()} attention, layer {layer}, head {head}",
        caption=f"{maps.run} reading “{maps.sentence}”. {READING}",
        svg=_with_tips(drawn.svg, tips),
        data=data,
    )


def _with_tips(svg: str, tips: Mapping[str, str]) -> str:
    """The SVG with a text for each of these elements, which browsers show under the pointer."""

    def with_tip(found: re.Match[str]) -> str:
        tip = f"<title>{escape(tips[found[2]])}</title>"
        return f'{found[1]}{tip}{found[3]} pointer-events="all"'

    return re.sub(f'(<g id="({"|".join(tips)})">)(\\s*<path)', with_tip, svg)


def _label_pieces(axes: Axes, maps: AttentionMaps, kind: str) -> None:
    """Pieces are named at the outer edges of the grid alone."""
    place: Any = axes.get_subplotspec()
    sides = (
        (axes.yaxis, maps.queries(kind), place.is_first_col(), 0),
        (axes.xaxis, maps.keys(kind), place.is_last_row(), 90),
    )
    for axis, pieces, is_outer, rotation in sides:
        names = _shown(pieces) if is_outer else []
        size = min(6.5, 70 * INCHES / len(pieces))
        axis.set_ticks(
            [n + 0.5 for n in range(len(names))], names, fontsize=size, rotation=rotation
        )
        axis.set_tick_params(length=0, pad=1)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def head_figure(path: Path) -> Iterator[Figure]:
    """Distance and entropy of every head; nothing where heads.csv is not there."""
    table = if_there(read_table, path)
    if table is None:
        return
    with drawing(6.4, 3.4) as drawn:
        distance, entropy = drawn.figure.subplots(1, 2, sharex=True)
        for number, kind in enumerate(KINDS):
            heads = table[table["attention"] == kind]
            # beside each other, or heads of different kinds would hide one another
            layers = heads["layer"] + 0.2 * (number - 1)
            style = {"marker": MARKERS[number], "s": 14, "color": PALETTE[number], "label": kind}
            entropy.scatter(layers, heads["entropy"], **style)
            if heads["distance"].notna().all():
                distance.scatter(layers, heads["distance"], **style)
        for axes, label in ((distance, "attention distance, pieces"), (entropy, "entropy, bits")):
            axes.set(xlabel="layer", ylabel=label, xticks=sorted(table["layer"].unique()))
            axes.set_ylim(bottom=0)
        handles, labels = entropy.get_legend_handles_labels()
        drawn.figure.legend(handles, labels, loc="outside upper center", ncols=3)
    yield Figure(
        name="heads",
        title="Attention distance and entropy of each head",
        caption="A mark is a head; means over the pieces of the first test pairs. Entropy 0: all "
        "attention on one piece. Distance is between a piece and what it attends to in its own "
        "sentence.",
        svg=drawn.svg,
        data=table,
    )
