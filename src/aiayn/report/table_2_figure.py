"""Table 2 as a picture: BLEU against training cost."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from aiayn.paper import Paper
from aiayn.report.cells import two_decimals
from aiayn.report.drawing import PALETTE, drawing
from aiayn.report.section import Entry, Figure
from aiayn.report.tables import power_of_ten

STYLES = {  # by origin: marker, colour, name in the legend
    "published": ("o", PALETTE[0], "earlier systems"),
    "paper": ("D", PALETTE[1], "Transformer, as printed"),
    "ours": ("*", PALETTE[2], "Transformer, ours"),
}


def cost_figure(paper: Paper, entries: Mapping[str, Entry], costs: Mapping[str, float]) -> Figure:
    """A panel for each column of table 2; the better and the cheaper, the further up and left."""
    systems = pd.DataFrame(_systems(paper, entries, costs))
    return Figure(
        name="bleu_by_cost",
        title="BLEU against training cost",
        caption="Table 2 as a figure; systems without a published cost are omitted. Costs are "
        "as the paper states them; those of ours, where a run of ours can be judged, are counted, "
        f"which gives two to four times less for the same training. Source: {paper.source}.",
        svg=_draw(paper, systems),
        data=systems.assign(
            training_flops=systems["training_flops"].map("{:.3g}".format),
            bleu=two_decimals(systems["bleu"]),
        ),
    )


def _systems(
    paper: Paper, entries: Mapping[str, Entry], costs: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """Every cell of table 2 that has both a BLEU and a cost; then ours by counted FLOPs, where they
    were judged: no other score belongs beside the paper's."""
    for printed in paper.table_2.values():
        for pair, bleu in printed.bleu.items():
            if flops := printed.flops_of_both or printed.flops.get(pair):
                yield {
                    "origin": "published" if printed.by else "paper",
                    "model": printed.name,
                    "pair": pair,
                    "training_flops": flops.value,
                    "bleu": bleu.value,
                }
    for run, entry in entries.items():
        if entry.ours and run in costs:
            pair, _, key = run.partition(".")
            yield {
                "origin": "ours",
                "model": f"{paper.table_2[key].name}, ours",
                "pair": pair,
                "training_flops": costs[run],
                "bleu": float(entry.ours.text),
            }


def _draw(paper: Paper, systems: pd.DataFrame) -> str:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    with drawing(8.6, 3.8) as drawn:
        panels = drawn.figure.subplots(1, len(paper.table_2_columns))
        for axes, (pair, column) in zip(panels, paper.table_2_columns.items(), strict=True):
            shown = systems[systems["pair"] == pair]
            for origin, (marker, colour, label) in STYLES.items():
                points = shown[shown["origin"] == origin]
                axes.scatter(
                    points["training_flops"], points["bleu"],
                    marker=marker, color=colour, label=label, s=26,
                )  # fmt: skip
            for system in shown.to_dict("records"):
                side = -1 if _crowded(system, shown) else 1
                point = (system["training_flops"], system["bleu"])
                axes.annotate(
                    system["model"], point, xytext=(6 * side, 0), textcoords="offset points",
                    fontsize=6.5, va="center", ha="left" if side > 0 else "right",
                )  # fmt: skip
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(FuncFormatter(lambda flops, _: _power(flops)))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.margins(0.45, 0.12)
            axes.set_title(column.heading, fontsize=9)
            axes.set_xlabel("training cost, FLOPs")
            axes.set_ylabel("BLEU, newstest2014")
        there = [origin in set(systems["origin"]) for origin in STYLES]
        handles, labels = panels[0].get_legend_handles_labels()
        drawn.figure.legend(
            [handle for handle, is_there in zip(handles, there, strict=True) if is_there],
            [label for label, is_there in zip(labels, there, strict=True) if is_there],
            loc="outside upper center",
            ncols=len(STYLES),
        )
    return drawn.svg


def _crowded(system: Mapping[Hashable, Any], others: pd.DataFrame) -> bool:
    """Whether a name to the right would run into the next system."""
    ratio = others["training_flops"] / system["training_flops"]
    near = (others["bleu"] - system["bleu"]).abs() < 0.3
    return bool((ratio.between(1, 4, inclusive="neither") & near).any())


def _power(flops: float) -> str:
    return power_of_ten(f"1e{math.log10(flops):.0f}").removeprefix("1·")
