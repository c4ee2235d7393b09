"""The figures with which people explain the paper, from what the stage illustrate computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from aiayn.report.evidence import Evidence
from aiayn.report.parts.drawing import DASHES, PALETTE, drawing
from aiayn.report.parts.heat import heat, legend
from aiayn.report.parts.section import Figure, Section
from aiayn.report.sections.attention_figures import attention_figures, head_figure
from aiayn.results import places
from aiayn.results.illustrations import read_table
from aiayn.results.json_files import if_there

Lines = Sequence[Mapping[str, str]]

WAVES = (8, 16, 24, 32)  # channels


def section(evidence: Evidence) -> Section:
    """A figure for each table that is there."""
    folder = evidence.root / places.ILLUSTRATIONS
    tables = {name: if_there(read_table, places.illustration(folder, name)) for name in FIGURES}
    return Section(
        key="model",
        title="How the model works",
        subtitle="the paper’s formulas and a trained model’s attention",
        lead="Every number in these figures was computed by the code that trains and translates.",
        tables=(),
        records=(),
        figures=(
            *(FIGURES[name](lines) for name, lines in tables.items() if lines),
            *attention_figures(places.attention(folder)),
            *head_figure(places.illustration(folder, "heads")),
        ),
    )


def _positions(lines: Lines) -> Figure:
    matrix = _matrix(lines, "channel", "position", "value")
    with drawing(6.4, 5.2) as drawn:
        waves, encodings = drawn.figure.subplots(2, sharex=True, height_ratios=(2, 3))
        for place, channel in enumerate(WAVES):
            middles = [position + 0.5 for position in range(len(matrix[channel]))]
            waves.plot(
                middles, matrix[channel], label=f"channel {channel}",
                color=PALETTE[place], linestyle=DASHES[place],
            )  # fmt: skip
        waves.set_ylabel("encoding")
        waves.legend(loc="upper right", ncols=4, fontsize=7)
        waves.set_ylim(-1.1, 1.6)
        heat(encodings, matrix)
        encodings.set_xlabel("position, tokens")
        encodings.set_ylabel("channel")
        legend(drawn.figure, diverging=True)
    return Figure(
        name="positions",
        title="Sinusoids that tell positions apart (section 3.5)",
        caption=f"{len(matrix[0])} positions, d_model {len(matrix)}. Even channels are sines, odd "
        "ones cosines; wavelengths grow from 2π to 10000 · 2π tokens.",
        svg=drawn.svg,
        records=lines,
    )


def _similarity(lines: Lines) -> Figure:
    with drawing(4.6, 4.4) as drawn:
        axes = drawn.figure.add_subplot()
        heat(axes, _matrix(lines, "position", "other", "similarity"))
        axes.set_aspect("equal")
        axes.set_xlabel("position, tokens")
        axes.set_ylabel("position, tokens")
        legend(drawn.figure, diverging=False)
    return Figure(
        name="position_similarity",
        title="Positions that are near have like encodings",
        caption="Cosine of the angle between the encodings of two positions: it depends on their "
        "distance alone.",
        svg=drawn.svg,
        records=lines,
    )


def _subsequent_mask(lines: Lines) -> Figure:
    with drawing(3.6, 3.3) as drawn:
        axes = drawn.figure.add_subplot()
        heat(axes, _matrix(lines, "position", "other", "may_attend"))
        axes.set_aspect("equal")
        axes.set_xlabel("position attended to")
        axes.set_ylabel("position that attends")
    return Figure(
        name="subsequent_mask",
        title="What the decoder may see (section 3.1)",
        caption="Filled: may attend. A position sees itself and those before it.",
        svg=drawn.svg,
        records=lines,
    )


def _learning_rates(lines: Lines) -> Figure:
    from matplotlib.ticker import FuncFormatter

    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        settings = groupby(lines, key=lambda line: (line["d_model"], line["warmup_steps"]))
        for place, ((d_model, warmup_steps), points) in enumerate(settings):
            held = list(points)
            axes.plot(
                [int(point["step"]) for point in held],
                [float(point["learning_rate"]) for point in held],
                label=f"d_model {d_model}, {int(warmup_steps):,} warm-up steps",
                color=PALETTE[place], linestyle=DASHES[place],
            )  # fmt: skip
        axes.set_xlabel("optimiser steps")
        axes.set_ylabel("learning rate")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
        axes.legend()
    return Figure(
        name="learning_rates",
        title="Learning rate: up, then down (section 5.3, equation 3)",
        caption="The paper’s base model has d_model 512 and 4,000 warm-up steps.",
        svg=drawn.svg,
        records=lines,
    )


def _smoothed_targets(lines: Lines) -> Figure:
    with drawing(6.4, 2.8) as drawn:
        axes = drawn.figure.add_subplot()
        groups = _by_smoothing(lines)
        width = 0.8 / len(groups)
        for place, (eps_ls, held) in enumerate(groups):
            axes.bar(
                [int(line["piece"]) + (place - 1) * width for line in held],
                [float(line["probability"]) for line in held],
                width, label=f"ε_ls {eps_ls}", color=PALETTE[place],
            )  # fmt: skip
        axes.set_xlabel("piece of the vocabulary")
        axes.set_ylabel("wanted probability")
        axes.legend()
    return Figure(
        name="smoothed_targets",
        title="Label smoothing: what the loss asks for (section 5.4)",
        caption="A vocabulary of 8 pieces, of which number 2 is right; read off the gradient of "
        "the loss.",
        svg=drawn.svg,
        records=lines,
    )


def _smoothing_penalty(lines: Lines) -> Figure:
    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        for place, (eps_ls, held) in enumerate(_by_smoothing(lines)):
            axes.plot(
                [float(line["confidence"]) for line in held],
                [float(line["loss"]) for line in held],
                label=f"ε_ls {eps_ls}", color=PALETTE[place], linestyle=DASHES[place],
            )  # fmt: skip
        axes.set_xlabel("probability given to the right piece")
        axes.set_ylabel("loss, nats")
        axes.set_ylim(bottom=0)
        axes.legend()
    return Figure(
        name="smoothing_penalty",
        title="Label smoothing: certainty is punished (section 5.4)",
        caption="A vocabulary of 8 pieces; what the right one does not get is spread evenly.",
        svg=drawn.svg,
        records=lines,
    )


FIGURES: Mapping[str, Callable[[Lines], Figure]] = {
    "positions": _positions,
    "similarity": _similarity,
    "subsequent_mask": _subsequent_mask,
    "learning_rates": _learning_rates,
    "smoothed_targets": _smoothed_targets,
    "smoothing_penalty": _smoothing_penalty,
}


def _by_smoothing(lines: Lines) -> list[tuple[str, list[Mapping[str, str]]]]:
    return [(eps, list(held)) for eps, held in groupby(lines, key=lambda line: line["eps_ls"])]


def _matrix(lines: Lines, row: str, column: str, value: str) -> list[list[float]]:
    """Values by row and column, both counted from 0 without a gap."""
    cells = {(int(line[row]), int(line[column])): float(line[value]) for line in lines}
    rows, columns = (max(place) + 1 for place in zip(*cells, strict=True))
    return [[cells[r, c] for c in range(columns)] for r in range(rows)]
