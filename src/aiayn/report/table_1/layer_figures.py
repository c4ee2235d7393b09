"""Table 1 in pictures: FLOPs, path lengths and reachability; and, apart, times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from aiayn.report.parts.drawing import DASHES, INK, PALETTE, drawing
from aiayn.report.parts.section import Figure
from aiayn.results.circumstances import ProfileCircumstances
from aiayn.results.profiles import Counted, LayersProfile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {
    "self_attention": "Self-attention",
    "recurrent": "Recurrent",
    "convolutional": "Convolutional",
    "restricted": "Self-attention (restricted)",
    "lstm": "LSTM",
    "gru": "GRU",
    "dilated": "Convolutional, dilated",
    "separable": "Separable convolution",
}
ROWS = ("self_attention", "recurrent", "convolutional", "restricted")

Line = tuple[str, Sequence[float], Sequence[float]]
Records = list[Mapping[str, str]]


def table_1_figures(profile: LayersProfile) -> tuple[Figure, ...]:
    """What is the same on every machine."""
    return (
        _flops(profile, "n", "d"),
        _flops(profile, "d", "n"),
        _path_lengths(profile),
        _reachability(profile),
    )


def _flops(profile: LayersProfile, varied: str, crossing: str) -> Figure:
    """Log-log, table 1's term alone, with the place marked where n = d."""
    fixed = asdict(profile.fixed)
    others = {size: value for size, value in fixed.items() if size != varied}

    def on_the_line(point: Counted) -> bool:
        return all(getattr(point, size) == value for size, value in others.items())

    lines: list[Line] = []
    records: Records = []
    for name in ROWS:
        points = sorted(
            (p for p in profile.counts[name].points.values() if on_the_line(p)),
            key=lambda p: getattr(p, varied),
        )
        lines.append((name, [getattr(p, varied) for p in points], [p.term for p in points]))
        records += [
            {"layer": name, varied: str(getattr(p, varied)), "term_flops": str(p.term)}
            for p in points
        ]
    rest = ", ".join(f"{size} = {value}" for size, value in others.items())
    return Figure(
        name=f"table_1_flops_{varied}",
        title=f"FLOPs of table 1's term against {varied}",
        caption=f"Counted, one sentence, forward; {rest}. The upright line marks n = d: where n is "
        "larger, self-attention costs more than recurrence.",
        svg=_log_log(lines, varied, "FLOPs", upright=fixed[crossing]),
        data=pd.DataFrame(records),
    )


def _path_lengths(profile: LayersProfile) -> Figure:
    """Log-log, at the smallest kernel and neighbourhood."""
    lines: list[Line] = []
    records: Records = []
    for name, growth in profile.paths.items():
        measured = growth.points.values()
        smallest = min((p.size for p in measured if p.size is not None), default=None)
        points = [p for p in measured if p.size == smallest]
        lines.append((name, [p.n for p in points], [p.layers for p in points]))
        records += [
            {"layer": name, "n": str(p.n), "k_or_r": str(p.size or ""), "layers": str(p.layers)}
            for p in measured
        ]
    return Figure(
        name="table_1_path_length",
        title="Path length against n",
        caption="Layers (of the recurrence: steps) until the last of n positions depends on the "
        f"first, by the layers' Jacobians; kernel k = {profile.map_sizes['k']}, neighbourhood "
        f"r = {profile.map_sizes['r']}.",
        svg=_log_log(lines, "n", "layers"),
        data=pd.DataFrame(records),
    )


def _log_log(
    lines: Iterable[Line], across: str, upwards: str, *, upright: float | None = None
) -> str:
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        axes.set_xscale("log")
        axes.set_yscale("log")
        for name, x, y in lines:
            place = list(NAMES).index(name)  # a layer looks the same in every figure
            dash = DASHES[place % len(DASHES)]
            colour = PALETTE[place % len(PALETTE)]
            axes.plot(x, y, label=NAMES[name], color=colour, linestyle=dash, marker=".")
            axes.set_xticks(x)
        if upright is not None:
            axes.axvline(upright, color=INK, linewidth=0.8, alpha=0.6)
            axes.annotate(
                "n = d",
                (upright, 0.02),
                xycoords=("data", "axes fraction"),
                ha="right",
                rotation=90,
            )
        axes.set_xlabel(across)
        axes.set_ylabel(upwards)
        _plain_numbers(axes)
        drawn.figure.legend(loc="outside right upper")
    return drawn.svg


def _plain_numbers(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(NullFormatter())


def _reachability(profile: LayersProfile) -> Figure:
    """One row of maps for each kind of layer, one column for each number of layers."""
    kinds = {
        name: {int(depth.removeprefix("layers")): rows for depth, rows in maps.items()}
        for name, maps in profile.maps.items()
    }
    depths = sorted({depth for maps in kinds.values() for depth in maps})
    records: Records = []
    with drawing(6.4, 1.75 * len(kinds)) as drawn:
        grid = drawn.figure.subplots(
            len(kinds), len(depths), sharex=True, sharey=True, squeeze=False
        )
        for row, (name, maps) in zip(grid, kinds.items(), strict=True):
            for axes, depth in zip(row, depths, strict=True):
                reached = [[int(mark) for mark in line] for line in maps[depth]]
                _map(axes, reached)
                axes.set_title(f"{NAMES[name]}, {depth}", fontsize=8)
                records += [
                    {"layer": name, "layers": str(depth), "output": str(i), "inputs": line}
                    for i, line in enumerate(maps[depth], start=1)
                ]
        drawn.figure.supxlabel("input position")
        drawn.figure.supylabel("output position")
    return Figure(
        name="table_1_reachability",
        title="Who depends on whom",
        caption="Dark: the output position depends on the input position after so many stacked "
        "layers; of the recurrence, to where the inputs have got after so many steps of time. From "
        "the layers' Jacobians; kernel "
        f"k = {profile.map_sizes['k']}, neighbourhood r = {profile.map_sizes['r']}.",
        svg=drawn.svg,
        data=pd.DataFrame(records),
    )


def _map(axes: Axes, reached: Sequence[Sequence[int]]) -> None:
    """Runs of dependence as bars: vector, and far fewer elements than one a cell."""
    n = len(reached)
    for output, line in enumerate(reached):
        runs, begun = [], None
        for place, mark in enumerate([*line, 0]):
            if mark and begun is None:
                begun = place
            elif not mark and begun is not None:
                runs.append((begun, place - begun))
                begun = None
        axes.broken_barh(runs, (output, 1), facecolors=PALETTE[0], linewidth=0)
    axes.set_xlim(0, n)
    axes.set_ylim(n, 0)
    axes.set_aspect("equal")
    axes.grid(False)
    axes.set_xticks([])
    axes.set_yticks([])


def wall_time(facts: ProfileCircumstances) -> Figure:
    """Seconds against n on the machine at hand.

    Not one of the section's figures: times differ from run to run, so it belongs to the page of
    circumstances.
    """
    lines: list[Line] = []
    records: Records = []
    for name, times in facts.layers.items():
        points = list(times.values())
        lines.append((name, [p.n for p in points], [p.training_seconds for p in points]))
        records += [
            {"layer": name, **{key: str(value) for key, value in asdict(p).items()}} for p in points
        ]
    return Figure(
        name="table_1_wall_time",
        title="Wall time against n",
        caption=f"One sentence, d = {facts.d}, forward and backward pass, best of three, on "
        f"{facts.device}; threads: {facts.threads}.",
        svg=_log_log(lines, "n", "seconds"),
        data=pd.DataFrame(records),
    )
