"""Training curves. Lines are told apart by dash as well as by colour."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aiayn.config import Config
from aiayn.report.drawing import DASHES, PALETTE, drawing
from aiayn.report.results import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    with drawing() as drawn:
        axes = drawn.figure.add_subplot()
        counts = dict.fromkeys(tasks.values(), 0)
        dashes = dict(zip(counts, itertools.cycle(DASHES), strict=False))
        for run, steps, values in curves:
            colour = PALETTE[counts[tasks[run]] % len(PALETTE)]
            counts[tasks[run]] += 1
            axes.plot(steps, values, label=run, color=colour, linestyle=dashes[tasks[run]])
        axes.set_xlabel("optimiser steps")
        axes.set_ylabel(label)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
        if logarithmic:
            _make_logarithmic(axes)
        drawn.figure.legend(loc="outside right upper")
    return drawn.svg


def _make_logarithmic(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
