"""Training curves as SVG: vector, small, the same bytes on every machine.

Text stays text, so that it can be read aloud and searched, and lines are told apart by dash as well
as by colour (Okabe and Ito's palette, which colour-blind readers can tell apart). INK and PAPER are
stand-ins of their own: the page replaces them by the colours of its light or dark dress.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aiayn.config import Config
from aiayn.report.results import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, PAPER = "#2b2b2a", "#fffffe"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
DASHES = ("-", (0, (4, 1.6)), (0, (1, 1.4)), (0, (6, 1.6, 1, 1.6)))
STYLE: Mapping[str, object] = {
    "svg.hashsalt": "aiayn",
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": INK,
    "grid.alpha": 0.14,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.4,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": "auto",
    "legend.frameon": False,
}

Curve = tuple[str, Sequence[int], Sequence[float]]


def training_curves(config: Config, histories: Mapping[str, History]) -> dict[str, str]:
    """SVG by file name: training loss, dev perplexity, learning rate; none where no point is."""
    tasks = {run: config.run(run).task for run in histories}
    figures: dict[str, tuple[str, bool, list[Curve]]] = {
        "training_loss.svg": (
            "training loss, nats a token (smoothed labels)",
            False,
            [(run, held.step, held.loss) for run, held in histories.items()],
        ),
        "dev_perplexity.svg": (
            "dev perplexity, per word piece",
            True,
            [(run, held.dev_step, held.dev_perplexity) for run, held in histories.items()],
        ),
        "learning_rate.svg": (
            "learning rate",
            False,
            [(run, held.step, held.learning_rate) for run, held in histories.items()],
        ),
    }
    return {
        name: _draw(curves, tasks, label, logarithmic=logarithmic)
        for name, (label, logarithmic, curves) in figures.items()
        if any(steps for _, steps, _ in curves)
    }


def _draw(
    curves: Sequence[Curve],
    tasks: Mapping[str, str],
    label: str,
    *,
    logarithmic: bool,
) -> str:
    """Steps to the right, `label` upwards; one dash for each task, colours from the first again."""
    import matplotlib.style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    # "default" first: a reader's own matplotlibrc must not change the figures
    with matplotlib.style.context(["default", dict(STYLE)]):
        figure = Figure(figsize=(6.4, 3.3), layout="constrained")
        canvas: Any = FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        drawn = dict.fromkeys(tasks.values(), 0)
        dashes = dict(zip(drawn, itertools.cycle(DASHES), strict=False))
        for run, steps, values in curves:
            colour = PALETTE[drawn[tasks[run]] % len(PALETTE)]
            drawn[tasks[run]] += 1
            axes.plot(steps, values, label=run, color=colour, linestyle=dashes[tasks[run]])
        axes.set_xlabel("optimiser steps")
        axes.set_ylabel(label)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
        if logarithmic:
            _make_logarithmic(axes)
        figure.legend(loc="outside right upper")
        text = io.StringIO()
        canvas.print_svg(text, metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _make_logarithmic(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
