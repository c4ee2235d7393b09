"""The figures that explain the paper's formulas, from what the stage illustrate computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from aiayn.report.attention_figures import attention_figures, head_figure
from aiayn.report.drawing import PALETTE, draw_lines, drawing, heat_map
from aiayn.report.evidence import Evidence
from aiayn.report.section import Figure, Section
from aiayn.results import paths
from aiayn.results.illustrations import read_table
from aiayn.results.json_files import if_there

CHANNELS = (8, 16, 24, 32)  # of the positions, drawn as waves


def section(evidence: Evidence) -> Section:
    """A figure for each table of illustrations/ that is there, and those of attention."""
    folder = evidence.illustrations
    return Section(
        key="model",
        title="Inside the model",
        subtitle="a trained model's attention, and the paper's formulas",
        lead="Every number in these figures was computed by the code that trains and translates.",
        figures=() if folder is None else tuple(_figures(folder)),
    )


def _figures(folder: Path) -> Iterator[Figure]:
    yield from attention_figures(paths.attention(folder))
    yield from head_figure(paths.illustration(folder, "heads"))
    for name, draw in FIGURES.items():
        table = if_there(read_table, paths.illustration(folder, name))
        if table is not None:
            yield draw(table)


def _positions(table: pd.DataFrame) -> Figure:
    matrix = table.pivot(index="channel", columns="position", values="value").to_numpy()
    waves = table[table["channel"].isin(CHANNELS)]
    names = waves.assign(
        middle=waves["position"] + 0.5, name="channel " + waves["channel"].astype(str)
    )
    with drawing(6.4, 5.2) as drawn:
        above, below = drawn.figure.subplots(2, sharex=True, height_ratios=(2, 3))
        draw_lines(above, names, "middle", "value", by="name")
        above.set(ylabel="encoding", ylim=(-1.1, 1.6))
        above.legend(loc="upper right", ncols=4, fontsize=7)
        below.set(xlabel="position, tokens", ylabel="channel")
        drawn.figure.colorbar(heat_map(below, matrix, diverging=True), ax=below)
    return Figure(
        name="positions",
        title="Sinusoidal position encodings (section 3.5)",
        caption=f"{len(matrix[0])} positions, d_model {len(matrix)}. Even channels are sines, odd "
        "ones cosines; wavelengths grow from 2π to 10000 · 2π tokens.",
        svg=drawn.svg,
        data=table,
    )


def _similarity(table: pd.DataFrame) -> Figure:
    with drawing(4.6, 4.0) as drawn:
        axes = drawn.figure.add_subplot()
        similarity = table.pivot(index="position", columns="other", values="similarity")
        drawn.figure.colorbar(heat_map(axes, similarity.to_numpy()), ax=axes)
        axes.set(aspect="equal", xlabel="position, tokens", ylabel="position, tokens")
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
        mask = table.pivot(index="position", columns="other", values="may_attend")
        heat_map(axes, mask.to_numpy())
        axes.set(aspect="equal", xlabel="position attended to", ylabel="position that attends")
    return Figure(
        name="subsequent_mask",
        title="The decoder's causal mask (section 3.1)",
        caption="Filled: may attend. A position attends to itself and to earlier ones.",
        svg=drawn.svg,
        data=table,
    )


def _learning_rates(table: pd.DataFrame) -> Figure:
    d_model, warmup = table["d_model"].astype(str), table["warmup_steps"].map("{:,}".format)
    settings = table.assign(name="d_model " + d_model + ", " + warmup + " warm-up steps")
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        draw_lines(axes, settings, "step", "learning_rate", by="name")
        axes.set(xlabel="optimiser steps", ylabel="learning rate", xlim=(0, None), ylim=(0, None))
        axes.xaxis.set_major_formatter("{x:,.0f}")
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
        axes.set(xlabel="piece of the vocabulary", ylabel="target probability")
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
        names = table.assign(name="ε_ls " + table["eps_ls"].astype(str))
        draw_lines(axes, names, "confidence", "loss", by="name")
        axes.set(xlabel="probability of the correct piece", ylabel="loss, nats", ylim=(0, None))
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
