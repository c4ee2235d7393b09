"""Attention maps of one sentence, and what each head looks at on the whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from aiayn.report.parts.drawing import PALETTE, drawing
from aiayn.report.parts.heat import heat, legend
from aiayn.report.parts.section import Figure
from aiayn.results.illustrations import AttentionMaps, read_attention, read_table
from aiayn.results.json_files import if_there

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 8  # heads side by side
INCHES = 1.25  # a map's width and height
KINDS = {
    "encoder": "Encoder self-attention: pieces of the source attend to each other",
    "decoder": "Decoder self-attention: pieces written attend to earlier ones",
    "cross": "Cross attention: pieces written attend to the source",
}


def attention_figures(path: Path) -> Iterator[Figure]:
    """A figure for each kind of attention in attention.json; none where that is not there.

    Raises:
        DataError: the file is not one of the stage illustrate.
    """
    found = if_there(read_attention, path)
    if found is None:
        return
    about = f"{found.run} reading “{found.sentence}” and writing “{found.translation}”."
    for kind, title in KINDS.items():
        yield Figure(
            name=f"attention_{kind}",
            title=title,
            caption=f"{about} A row is a piece that attends, a column a piece attended to; a row "
            "sums to 1.",
            svg=draw_attention(found, kind),
            records=list(attention_records(found, kind)),
        )


def draw_attention(found: AttentionMaps, kind: str) -> str:
    """SVG: heads from left to right, layers from top to bottom; a layer may take several rows."""
    layers = found.layers(kind)
    heads = len(layers[0])
    columns = min(heads, COLUMNS)
    rows_each = -(-heads // columns)
    rows = rows_each * len(layers)
    with drawing(max(5.0, INCHES * columns + 0.8), INCHES * rows + 1.2) as drawn:
        grid = drawn.figure.subplots(rows, columns, squeeze=False)
        for layer, matrices in enumerate(layers):
            for head in range(columns * rows_each):
                row, column = layer * rows_each + head // columns, head % columns
                axes = grid[row, column]
                if head >= heads:
                    axes.set_axis_off()
                    continue
                heat(axes, matrices[head])
                axes.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=6.5, pad=2)
                _name_pieces(axes, found, kind, left=column == 0, below=row == rows - 1)
        legend(drawn.figure, diverging=False)
    return drawn.svg


def _name_pieces(axes: Axes, found: AttentionMaps, kind: str, *, left: bool, below: bool) -> None:
    """Pieces stand at the outer edges of the grid alone."""
    sides = ((axes.yaxis, found.queries(kind), left), (axes.xaxis, found.keys(kind), below))
    for axis, pieces, shown in sides:
        size = min(6.5, 70 * INCHES / len(pieces))
        names = [piece.replace("▁", " ").strip() or "␣" for piece in pieces] if shown else []
        axis.set_ticks([place + 0.5 for place in range(len(pieces))] if shown else [])
        axis.set_ticklabels(names, fontsize=size, rotation=90 if axis is axes.xaxis else 0)
        axis.set_tick_params(length=0, pad=1)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def attention_records(found: AttentionMaps, kind: str) -> Iterator[dict[str, str]]:
    """The lines of the figure's CSV."""
    queries, keys = found.queries(kind), found.keys(kind)
    for layer, heads in enumerate(found.layers(kind), 1):
        for head, matrix in enumerate(heads, 1):
            for query, row in enumerate(matrix):
                for key, weight in enumerate(row):
                    yield {
                        "layer": f"{layer}",
                        "head": f"{head}",
                        "query": f"{query}",
                        "query_piece": queries[query],
                        "key": f"{key}",
                        "key_piece": keys[key],
                        "weight": f"{weight}",
                    }


def head_figure(path: Path) -> Iterator[Figure]:
    """Distance and entropy of every head; nothing where heads.csv is not there."""
    lines = if_there(read_table, path)
    if not lines:
        return
    with drawing(6.4, 3.4) as drawn:
        distance, entropy = drawn.figure.subplots(1, 2, sharex=True)
        for place, kind in enumerate(KINDS):
            held = [line for line in lines if line["attention"] == kind]
            # beside each other, or heads of different kinds would hide one another
            layers = [int(line["layer"]) + 0.2 * (place - 1) for line in held]
            look = {"marker": "os^"[place], "s": 14, "color": PALETTE[place], "label": kind}
            entropy.scatter(layers, [float(line["entropy"]) for line in held], **look)
            if all(line["distance"] for line in held):
                distance.scatter(layers, [float(line["distance"]) for line in held], **look)
        for axes, label in ((distance, "distance looked, pieces"), (entropy, "entropy, bits")):
            axes.set_xlabel("layer")
            axes.set_ylabel(label)
            axes.set_ylim(bottom=0)
            axes.set_xticks(sorted({int(line["layer"]) for line in lines}))
        handles, labels = entropy.get_legend_handles_labels()
        drawn.figure.legend(handles, labels, loc="outside upper center", ncols=3)
    yield Figure(
        name="heads",
        title="What each head looks at",
        caption="A mark is a head; means over the pieces of the first test pairs. Entropy 0: looks "
        "at one piece alone. Distance is between a piece and what it attends to in its own "
        "sentence.",
        svg=drawn.svg,
        records=lines,
    )
