"""Table 1 as figures: FLOPs, path lengths and dependences; and, separately, times."""

from __future__ import annotations

from itertools import product

import pandas as pd

from aiayn.paper import Paper
from aiayn.profiling.layer_types import LAYER_TYPES
from aiayn.report.drawing import INK, drawing, heat_map, line_style
from aiayn.report.section import Figure
from aiayn.results.frames import layers_frame
from aiayn.results.metadata import ProfilingMetadata
from aiayn.results.profiles import LayersProfile


def table_1_figures(paper: Paper, profile: LayersProfile) -> tuple[Figure, ...]:
    """What is the same on every machine."""
    return (
        _flops(paper, profile, "n", "d"),
        _flops(paper, profile, "d", "n"),
        _path_lengths(profile),
        _dependences(profile),
    )


def _flops(paper: Paper, profile: LayersProfile, varied: str, crossing: str) -> Figure:
    """Log-log, table 1's term alone, with a line where n = d."""
    layers, fixed = layers_frame(profile), vars(profile.fixed)
    others = {size: value for size, value in fixed.items() if size != varied}
    terms = layers[(layers["quantity"] == "term_flops") & layers["layer"].isin(paper.table_1)]
    for size, value in others.items():
        terms = terms[terms[size] == value]
    order = list(paper.table_1)
    by_layer = terms["layer"].map(order.index)
    terms = terms.assign(order=by_layer).sort_values(["order", varied])
    data = terms[["layer", varied]].assign(term_flops=terms["value"].astype("int64"))
    rest = ", ".join(f"{size} = {value}" for size, value in others.items())
    return Figure(
        name=f"table_1_flops_{varied}",
        title=f"FLOPs of table 1's term against {varied}",
        caption=f"Counted, one sentence, forward; {rest}. The vertical line marks n = d: where n "
        "is larger, self-attention costs more than recurrence.",
        svg=_log_log(data, varied, "term_flops", "FLOPs", n_is_d=fixed[crossing]),
        data=data,
    )


def _path_lengths(profile: LayersProfile) -> Figure:
    """Log-log, at the smallest kernel and neighborhood."""
    layers = layers_frame(profile)
    paths = layers[layers["quantity"] == "path_length"]
    data = paths[["layer", "n"]].assign(
        k_or_r=paths["k"].fillna(paths["r"]), layers=paths["value"].astype("int64")
    )
    size = data["k_or_r"].fillna(0)
    smallest = size == size.groupby(data["layer"]).transform("min")
    return Figure(
        name="table_1_path_length",
        title="Path length against n",
        caption="Layers (of the recurrence: time steps) until the last of n positions depends "
        f"on the first, by the layers' Jacobians; kernel k = {profile.maps.k}, "
        f"neighborhood r = {profile.maps.r}.",
        svg=_log_log(data[smallest], "n", "layers", "layers"),
        data=data,
    )


def _log_log(data: pd.DataFrame, x: str, y: str, label: str, *, n_is_d: float | None = None) -> str:
    """A line for each layer type, in the same colour and dash in every figure."""
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        axes.set(xscale="log", yscale="log", xlabel=x, ylabel=label)
        for layer, line in data.groupby("layer", sort=False):
            style = line_style(list(LAYER_TYPES).index(str(layer)))
            axes.plot(line[x], line[y], label=LAYER_TYPES[str(layer)].name, marker=".", **style)
            axes.set_xticks(line[x])
        if n_is_d is not None:
            axes.axvline(n_is_d, color=INK, linewidth=0.8, alpha=0.6)
            axes.annotate(
                "n = d", (n_is_d, 0.02), xycoords=("data", "axes fraction"), ha="right",
                rotation=90,
            )  # fmt: skip
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:,g}")
            axis.set_minor_formatter("")
        drawn.figure.legend(loc="outside right upper")
    return drawn.svg


def _dependences(profile: LayersProfile) -> Figure:
    """A row of maps for each layer type, a column for each number of layers."""
    data = pd.DataFrame(
        {"layer": layer, "layers": int(depth.removeprefix("layers")), "output": i, "inputs": line}
        for layer, maps in profile.maps.stacks.items()
        for depth, lines in sorted(maps.items(), key=lambda item: int(item[0][len("layers") :]))
        for i, line in enumerate(lines, start=1)
    )
    layers, depths = data["layer"].unique(), sorted(data["layers"].unique())
    with drawing(6.4, 1.75 * len(layers)) as drawn:
        grid = drawn.figure.subplots(
            len(layers), len(depths), sharex=True, sharey=True, squeeze=False
        )
        for axes, (layer, depth) in zip(grid.flat, product(layers, depths), strict=True):
            rows = data[(data["layer"] == layer) & (data["layers"] == depth)]["inputs"]
            heat_map(axes, [[int(mark) for mark in line] for line in rows])
            axes.set(aspect="equal", xticks=[], yticks=[])
            axes.set_title(f"{LAYER_TYPES[layer].name}, {depth}", fontsize=8)
        drawn.figure.supxlabel("input position")
        drawn.figure.supylabel("output position")
    return Figure(
        name="table_1_reachability",
        title="Receptive field",
        caption="Filled: the output position depends on the input position after that many stacked "
        "layers, of the recurrence after that many time steps. From the layers' Jacobians; kernel "
        f"k = {profile.maps.k}, neighborhood r = {profile.maps.r}.",
        svg=drawn.svg,
        data=data,
    )


def wall_time(facts: ProfilingMetadata) -> Figure:
    """Seconds against n on the machine at hand.

    Not one of the section's figures: times differ from run to run, so it belongs to the page of
    run metadata.
    """
    data = pd.DataFrame(
        {"layer": layer, **vars(point)}
        for layer, times in facts.layers.items()
        for point in times.values()
    )
    return Figure(
        name="table_1_wall_time",
        title="Wall time against n",
        caption=f"One sentence, d = {facts.d}, forward and backward pass, best of three, on "
        f"{facts.device}; threads: {facts.threads}.",
        svg=_log_log(data, "n", "training_seconds", "seconds"),
        data=data,
    )
