"""Table 2 as a picture: BLEU against training cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from aiayn.paper import Paper
from aiayn.report.parts.drawing import PALETTE, drawing
from aiayn.report.parts.section import Figure
from aiayn.report.parts.tables import power_of_ten
from aiayn.report.table_2.bleu_cells import Comparison

LOOKS = {  # origin: marker, colour, name in the legend
    "published": ("o", PALETTE[0], "published before"),
    "paper": ("D", PALETTE[1], "Transformer, as printed"),
    "ours": ("*", PALETTE[2], "Transformer, ours"),
}


@dataclass(frozen=True, kw_only=True)
class System:
    """A point of the picture: `origin` as in LOOKS, `pair` a column of table 2."""

    origin: str
    name: str
    pair: str
    flops: float
    bleu: float


def printed_systems(paper: Paper) -> Iterator[System]:
    """Every cell of table 2 that has both a BLEU and a cost."""
    for row in paper.table_2.values():
        for pair, bleu in row.bleu.items():
            flops = row.flops_of_both or row.flops.get(pair)
            if flops:
                yield System(
                    origin="published" if row.by else "paper",
                    name=row.name,
                    pair=pair,
                    flops=flops.value,
                    bleu=bleu.value,
                )


def our_systems(comparisons: Iterable[Comparison], costs: Mapping[str, float]) -> Iterator[System]:
    """Ours, by counted FLOPs, where they were judged: no other score belongs beside the paper's."""
    for item in comparisons:
        if item.ours and item.run in costs:
            yield System(
                origin="ours",
                name=f"{item.model_name}, ours",
                pair=item.pair,
                flops=costs[item.run],
                bleu=item.ours.value,
            )


def cost_figure(paper: Paper, systems: Sequence[System]) -> Figure:
    """A panel for each column of table 2; the better and the cheaper, the further up and left."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    with drawing(8.6, 3.8) as drawn:
        panels = drawn.figure.subplots(1, len(paper.table_2_columns))
        for axes, (pair, column) in zip(panels, paper.table_2_columns.items(), strict=True):
            for origin, (marker, colour, label) in LOOKS.items():
                points = [s for s in systems if (s.pair, s.origin) == (pair, origin)]
                axes.scatter(
                    [point.flops for point in points], [point.bleu for point in points],
                    marker=marker, color=colour, label=label, s=26,
                )  # fmt: skip
            for system in (held := [s for s in systems if s.pair == pair]):
                side = -1 if _crowded(system, held) else 1
                axes.annotate(
                    system.name, (system.flops, system.bleu), xytext=(6 * side, 0),
                    textcoords="offset points", fontsize=6.5, va="center",
                    ha="left" if side > 0 else "right",
                )  # fmt: skip
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(FuncFormatter(lambda flops, _: _power(flops)))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.margins(0.45, 0.12)
            axes.set_title(column.heading, fontsize=9)
            axes.set_xlabel("training cost, FLOPs")
            axes.set_ylabel("BLEU, newstest2014")
        shown = [origin in {system.origin for system in systems} for origin in LOOKS]
        handles, labels = panels[0].get_legend_handles_labels()
        drawn.figure.legend(
            [handle for handle, is_shown in zip(handles, shown, strict=True) if is_shown],
            [label for label, is_shown in zip(labels, shown, strict=True) if is_shown],
            loc="outside upper center",
            ncols=len(LOOKS),
        )
    return Figure(
        name="bleu_by_cost",
        title="BLEU against training cost",
        caption="Table 2 as a picture; systems without a published cost are left out. Costs are "
        "as the paper states them; those of ours, where a run of ours can be judged, are counted, "
        f"which gives two to four times less for the same training. Source: {paper.source}.",
        svg=drawn.svg,
        data=pd.DataFrame(
            [
                {
                    "origin": system.origin,
                    "model": system.name,
                    "pair": system.pair,
                    "training_flops": f"{system.flops:.3g}",
                    "bleu": f"{system.bleu:.2f}",
                }
                for system in systems
            ]
        ),
    )


def _crowded(system: System, others: Sequence[System]) -> bool:
    """Whether a name to the right would run into the next system."""
    return any(
        1 < other.flops / system.flops < 4 and abs(other.bleu - system.bleu) < 0.3
        for other in others
    )


def _power(flops: float) -> str:
    return power_of_ten(f"1e{math.log10(flops):.0f}").removeprefix("1·")
