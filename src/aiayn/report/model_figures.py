"""The figures that explain the paper's formulas, from what the stage illustrate computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from aiayn.report.attention_figures import attention_figures, head_figure
from aiayn.report.drawing import PALETTE, drawing, heat_map, heat_map_legend, line_style
from aiayn.report.evidence import Evidence
from aiayn.report.section import Figure, Section
from aiayn.results import paths
from aiayn.results.illustrations import read_table
from aiayn.results.json_files import if_there

CHANNELS = (8, 16, 24, 32)  # of the positions, drawn as waves


def section(evidence: Evidence) -> Section:
    """A figure for each table of illustrations/ that is there, and those of attention."""
    folder = evidence.root / paths.ILLUSTRATIONS
    tables = {name: if_there(read_table, paths.illustration(folder, name)) for name in FIGURES}
    return Section(
        key="model",
        title="How the model works",
        subtitle="the paper’s formulas and a trained model’s attention",
        lead="Every number in these figures was computed by the code that trains and translates.",
        figures=(
            *(FIGURES[name](table) for name, table in tables.items() if table is not None),
            *attention_figures(paths.attention(folder)),
            *head_figure(paths.illustration(folder, "heads")),
        ),
    )


def _positions(table: pd.DataFrame) -> Figure:
    matrix = _matrix(table, "channel", "position", "value")
    with drawing(6.4, 5.2) as drawn:
        waves, encodings = drawn.figure.subplots(2, sharex=True, height_ratios=(2, 3))
        for number, channel in enumerate(CHANNELS):
            middles = [position + 0.5 for position in range(len(matrix[channel]))]
            waves.plot(middles, matrix[channel], label=f"channel {channel}", **line_style(number))
        waves.set_ylabel("encoding")
        waves.legend(loc="upper right", ncols=4, fontsize=7)
        waves.set_ylim(-1.1, 1.6)
        heat_map(encodings, matrix)
        encodings.set_xlabel("position, tokens")
        encodings.set_ylabel("channel")
        heat_map_legend(drawn.figure, diverging=True)
    return Figure(
        name="positions",
        title="Sinusoidal position encodings (section 3.5)",
        caption=f"{len(matrix[0])} positions, d_model {len(matrix)}. Even channels are sines, odd "
        "ones cosines; wavelengths grow from 2π to 10000 · 2π tokens.",
        svg=drawn.svg,
        data=table,
    )


def _similarity(table: pd.DataFrame) -> Figure:
    with drawing(4.6, 4.4) as drawn:
        axes = drawn.figure.add_subplot()
        heat_map(axes, _matrix(table, "position", "other", "similarity"))
        axes.set_aspect("equal")
        axes.set_xlabel("position, tokens")
        axes.set_ylabel("position, tokens")
        heat_map_legend(drawn.figure, diverging=False)
    return Figure(
        name="position_similarity",
        title="Nearby positions have similar encodings",
        caption="Cosine of the angle between the encodings of two positions: it depends on their "
        "distance alone.",
        svg=drawn.svg,
        data=table,
    )


def _subsequent_mask(table: pd.DataFrame) -> Figure:
    with drawing(3.6, 3.3) as drawn:
        axes = drawn.figure.add_subplot()
        heat_map(axes, _matrix(table, "position", "other", "may_attend"))
        axes.set_aspect("equal")
        axes.set_xlabel("position attended to")
        axes.set_ylabel("position that attends")
    return Figure(
        name="subsequent_mask",
        title="The decoder's causal mask (section 3.1)",
        caption="Filled: may attend. A position attends to itself and to earlier ones.",
        svg=drawn.svg,
        data=table,
    )


def _learning_rates(table: pd.DataFrame) -> Figure:
    from matplotlib.ticker import FuncFormatter

    settings = table.groupby(["d_model", "warmup_steps"], sort=False)
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        for number, ((d_model, warmup_steps), points) in enumerate(settings):
            label = f"d_model {d_model}, {warmup_steps:,} warm-up steps"
            axes.plot(points["step"], points["learning_rate"], label=label, **line_style(number))
        axes.set_xlabel("optimiser steps")
        axes.set_ylabel("learning rate")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
        axes.legend()
    return Figure(
        name="learning_rates",
        title="Learning rate: warm-up, then decay (section 5.3, equation 3)",
        caption="The paper’s base model has d_model 512 and 4,000 warm-up steps.",
        svg=drawn.svg,
        data=table,
    )


def _smoothed_targets(table: pd.DataFrame) -> Figure:
    width = 0.8 / table["eps_ls"].nunique()
    with drawing(6.4, 2.8) as drawn:
        axes = drawn.figure.add_subplot()
        for number, (eps_ls, points) in enumerate(table.groupby("eps_ls")):
            axes.bar(
                points["piece"] + (number - 1) * width, points["probability"], width,
                label=f"ε_ls {eps_ls}", color=PALETTE[number],
            )  # fmt: skip
        axes.set_xlabel("piece of the vocabulary")
        axes.set_ylabel("target probability")
        axes.legend()
    return Figure(
        name="smoothed_targets",
        title="Label smoothing: target probabilities (section 5.4)",
        caption="A vocabulary of 8 pieces, of which number 2 is correct; from the gradient of "
        "the loss.",
        svg=drawn.svg,
        data=table,
    )


def _smoothing_penalty(table: pd.DataFrame) -> Figure:
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        for number, (eps_ls, points) in enumerate(table.groupby("eps_ls")):
            label = f"ε_ls {eps_ls}"
            axes.plot(points["confidence"], points["loss"], label=label, **line_style(number))
        axes.set_xlabel("probability of the correct piece")
        axes.set_ylabel("loss, nats")
        axes.set_ylim(bottom=0)
        axes.legend()
    return Figure(
        name="smoothing_penalty",
        title="Label smoothing: over-confidence is penalized (section 5.4)",
        caption="A vocabulary of 8 pieces; the remaining probability is spread evenly.",
        svg=drawn.svg,
        data=table,
    )


FIGURES: Mapping[str, Callable[[pd.DataFrame], Figure]] = {
    "positions": _positions,
    "similarity": _similarity,
    "subsequent_mask": _subsequent_mask,
    "learning_rates": _learning_rates,
    "smoothed_targets": _smoothed_targets,
    "smoothing_penalty": _smoothing_penalty,
}
"""By the table in illustrations/ that each draws."""


def _matrix(table: pd.DataFrame, row: str, column: str, value: str) -> list[list[Any]]:
    """Values by row and column, both counted from 0 without a gap."""
    matrix: list[list[Any]] = table.pivot(index=row, columns=column, values=value).values.tolist()
    return matrix
