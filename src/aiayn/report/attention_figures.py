"""Attention maps of one sentence, and what each head looks at on the whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiayn.errors import ScoreError
from aiayn.report.drawing import PALETTE, drawing
from aiayn.report.heat import heat, legend
from aiayn.report.results import read_illustration
from aiayn.report.section import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Matrix = Sequence[Sequence[float]]

COLUMNS = 8  # heads side by side
INCHES = 1.25  # a map's width and height
KINDS = {
    "encoder": "Encoder self-attention: pieces of the source attend to each other",
    "decoder": "Decoder self-attention: pieces written attend to earlier ones",
    "cross": "Cross attention: pieces written attend to the source",
}


@dataclass(frozen=True, kw_only=True)
class AttentionMap:
    """One kind of attention: weights by layer, head, query and key, and the pieces' texts."""

    kind: str
    queries: Sequence[str]
    keys: Sequence[str]
    layers: Sequence[Sequence[Matrix]]


def attention_figures(path: Path) -> Iterator[Figure]:
    """A figure for each kind of attention in attention.json; none where that is not there.

    Raises:
        ScoreError: the file is not one of the stage illustrate.
    """
    try:
        data = json.loads(path.read_bytes())
        maps = [attention_map(data, kind) for kind in KINDS]
        about = f"{data['run']} reading “{data['sentence']}” and writing “{data['translation']}”."
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError) as error:
        raise ScoreError(
            f"{path}: not attention maps ({type(error).__name__}: {' '.join(str(error).split())}). "
            "Make it again: dvc repro -f illustrate."
        ) from error
    for found in maps:
        yield Figure(
            name=f"attention_{found.kind}",
            title=KINDS[found.kind],
            caption=f"{about} A row is a piece that attends, a column a piece attended to; a row "
            "sums to 1.",
            svg=draw_attention(found),
            records=list(_records(found)),
        )


def attention_map(data: Any, kind: str) -> AttentionMap:
    """One of KINDS from what stands in attention.json. Raises KeyError if that is incomplete."""
    return AttentionMap(
        kind=kind,
        queries=data["source" if kind == "encoder" else "target"],
        keys=data["target" if kind == "decoder" else "source"],
        layers=data["maps"][kind],
    )


def draw_attention(found: AttentionMap) -> str:
    """SVG: heads from left to right, layers from top to bottom; a layer may take several rows."""
    heads = len(found.layers[0])
    columns = min(heads, COLUMNS)
    rows_each = -(-heads // columns)
    rows = rows_each * len(found.layers)
    with drawing(max(5.0, INCHES * columns + 0.8), INCHES * rows + 1.2) as drawn:
        grid = drawn.figure.subplots(rows, columns, squeeze=False)
        for layer, matrices in enumerate(found.layers):
            for head in range(columns * rows_each):
                row, column = layer * rows_each + head // columns, head % columns
                axes = grid[row, column]
                if head >= heads:
                    axes.set_axis_off()
                    continue
                heat(axes, matrices[head])
                axes.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=6.5, pad=2)
                _name_pieces(axes, found, left=column == 0, below=row == rows - 1)
        legend(drawn.figure, diverging=False)
    return drawn.svg


def _name_pieces(axes: Axes, found: AttentionMap, *, left: bool, below: bool) -> None:
    """Pieces stand at the outer edges of the grid alone."""
    for axis, pieces, shown in ((axes.yaxis, found.queries, left), (axes.xaxis, found.keys, below)):
        size = min(6.5, 70 * INCHES / len(pieces))
        names = [piece.replace("▁", " ").strip() or "␣" for piece in pieces] if shown else []
        axis.set_ticks([place + 0.5 for place in range(len(pieces))] if shown else [])
        axis.set_ticklabels(names, fontsize=size, rotation=90 if axis is axes.xaxis else 0)
        axis.set_tick_params(length=0, pad=1)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def _records(found: AttentionMap) -> Iterator[dict[str, str]]:
    for layer, heads in enumerate(found.layers, 1):
        for head, matrix in enumerate(heads, 1):
            for query, row in enumerate(matrix):
                for key, weight in enumerate(row):
                    yield {
                        "layer": f"{layer}",
                        "head": f"{head}",
                        "query": f"{query}",
                        "query_piece": found.queries[query],
                        "key": f"{key}",
                        "key_piece": found.keys[key],
                        "weight": f"{weight}",
                    }


def head_figure(path: Path) -> Iterator[Figure]:
    """Distance and entropy of every head; nothing where heads.csv is not there."""
    lines = read_illustration(path)
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
