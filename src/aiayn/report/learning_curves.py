"""Training curves: a figure for each task, in which the leading runs are coloured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from aiayn.config import Config
from aiayn.report.drawing import INK, drawing, legend_label, line_style
from aiayn.report.evidence import Evidence, leading_runs, runs_of, tested_fold
from aiayn.report.section import Figure, Section
from aiayn.results.frames import histories_frame
from aiayn.results.history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 200  # a curve's at most: more would only make the page heavy; the CSV has them all
COLUMNS = ["run", "step", "loss", "dev_perplexity", "learning_rate"]
OTHERS = {"color": INK, "alpha": 0.35, "linewidth": 0.8}


def section(evidence: Evidence) -> Section:
    """The training curves of all runs so far."""
    return Section(
        key="training",
        title="Training",
        subtitle="loss, perplexity and learning rate by step",
        lead="Loss is that of the smoothed labels (section 5.4); perplexity is that of the plain "
        "ones, for each word piece of the development set.",
        figures=tuple(training_curves(evidence.config, evidence.histories)),
    )


def training_curves(config: Config, histories: Mapping[str, History]) -> Iterator[Figure]:
    """A figure for each task of which a run has a history; the folds of one text share theirs."""
    for first, *more in _tasks_by_figure(config):
        runs = [run for task in (first, *more) for run in runs_of(config, task) if run in histories]
        if not any(histories[run].lines for run in runs):
            continue
        leading = [run for run in leading_runs(config, first) if run in runs]
        others = [run for run in runs if run not in leading]
        grey = f"{len(others)} more, of all folds" if more else ", ".join(others)
        caption = f"Runs: {', '.join(leading or others)}."
        if leading and others:
            caption = f"In colour: {', '.join(leading)}. In grey: {grey}."
        curves = histories_frame({run: histories[run] for run in runs})
        yield Figure(
            name=f"training_{first}",
            title=f"Training on {first}" + (f" and {len(more)} more folds" if more else ""),
            caption=f"{caption} Measured by the stage train.",
            svg=_draw(curves, leading, others, "other folds" if more else "other runs"),
            data=curves[COLUMNS],
        )


def _tasks_by_figure(config: Config) -> Iterable[Sequence[str]]:
    """In the order of params.yaml."""
    tasks_of: dict[object, list[str]] = {}
    for task in config.tasks:
        text, _ = tested_fold(config, task) or (task, None)
        tasks_of.setdefault(text, []).append(task)
    return tasks_of.values()


def _draw(
    curves: pd.DataFrame, leading: Sequence[str], others: Sequence[str], name_of_others: str
) -> str:
    """Three panels over one axis of steps; the leading runs lie above the others."""
    styles: dict[str, dict[str, Any]] = dict.fromkeys(others, OTHERS)
    for number, run in enumerate(leading):
        styles[run] = line_style(number) | {"label": legend_label(run)}
    with drawing(6.4, 6.6) as drawn:
        loss, perplexity, rate = drawn.figure.subplots(3, sharex=True)
        for run, style in styles.items():
            curve = curves[curves["run"] == run]
            panels = ((loss, "loss"), (perplexity, "dev_perplexity"), (rate, "learning_rate"))
            for axes, column in panels:
                points = _thinned(curve.dropna(subset=column))
                axes.plot(points["step"], points[column], **style)
        if others:
            loss.plot([], [], label=name_of_others, **OTHERS)
        loss.set_ylabel("training loss, nats per token")
        perplexity.set_ylabel("dev perplexity, per piece")
        rate.set_ylabel("learning rate")
        rate.set_xlabel("optimiser steps")
        rate.set_xlim(left=0)
        _count_steps(rate)
        if curves["dev_perplexity"].notna().any():
            _make_logarithmic(perplexity)
        loss.legend(loc="upper right")
        drawn.figure.align_ylabels()
    return drawn.svg


def _thinned(points: pd.DataFrame) -> pd.DataFrame:
    """At most POINTS evenly chosen ones, the last among them."""
    stride = max(1, -(-len(points) // POINTS))
    return points[::-stride][::-1]


def _count_steps(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))


def _make_logarithmic(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
