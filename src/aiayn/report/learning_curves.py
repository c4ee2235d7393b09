"""Training curves: a figure for each task, in which the leading runs are coloured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from aiayn.config import Config
from aiayn.report.drawing import drawing, line_style
from aiayn.report.evidence import Evidence, first_of_each_model, runs_of, tested_fold
from aiayn.report.section import Figure, Section
from aiayn.results.frames import histories_frame
from aiayn.results.history import History

POINTS = 200  # a curve's at most: more would only make the page heavy; the CSV has them all
SHOWN = 8  # runs of a figure that can still be distinguished
COLUMNS = ["run", "step", "loss", "dev_perplexity", "learning_rate"]


def section(evidence: Evidence) -> Section:
    """The training curves of all runs so far."""
    return Section(
        key="training",
        title="Training curves",
        subtitle="loss, perplexity and learning rate by step",
        lead="Loss is that of the smoothed labels (section 5.4); perplexity is that of the plain "
        "ones, for each word piece of the development set.",
        figures=tuple(training_curves(evidence.config, evidence.histories)),
    )


def training_curves(config: Config, histories: Mapping[str, History]) -> Iterator[Figure]:
    """A figure for each task of which a run has a history; the folds of one text share theirs.

    One run of each model is drawn, tested ones first, and SHOWN at most.
    """
    for first, *more in _tasks_by_figure(config):
        runs = [run for task in (first, *more) for run in runs_of(config, task) if run in histories]
        if not any(histories[run].lines for run in runs):
            continue
        shown = first_of_each_model(config, runs)[:SHOWN]
        curves = histories_frame({run: histories[run] for run in runs})
        yield Figure(
            name=f"training_{first}",
            title=f"Training on {first}" + (f" and {len(more)} more folds" if more else ""),
            caption=f"{len(shown)} of {len(runs)} runs, one of each model, tested ones first; "
            "the CSV has all. Measured by the stage train.",
            svg=_draw(curves, shown),
            data=curves[COLUMNS],
        )


def all_curves(config: Config, histories: Mapping[str, History]) -> str:
    """Every recorded step of every run, as CSV with the run's task."""
    curves = histories_frame(histories)
    curves.insert(0, "task", [config.run(run).task for run in curves["run"]])
    return curves.to_csv(index=False)


def _tasks_by_figure(config: Config) -> Iterable[Sequence[str]]:
    """In the order of params.yaml."""
    tasks_of: dict[object, list[str]] = {}
    for task in config.tasks:
        text, _ = tested_fold(config, task) or (task, None)
        tasks_of.setdefault(text, []).append(task)
    return tasks_of.values()


def _draw(curves: pd.DataFrame, runs: Sequence[str]) -> str:
    """Three panels over one axis of steps."""
    from matplotlib.ticker import LogLocator

    with drawing(7.4, 6.6) as drawn:
        loss, perplexity, rate = drawn.figure.subplots(3, sharex=True)
        panels = {"loss": loss, "dev_perplexity": perplexity, "learning_rate": rate}
        for number, run in enumerate(runs):
            curve = curves[curves["run"] == run]
            for column, axes in panels.items():
                points = _thinned(curve.dropna(subset=column))
                style = line_style(number) | {"label": run}
                axes.plot(points["step"], points[column], **style)
        loss.set_ylabel("training loss, nats per token")
        perplexity.set_ylabel("dev perplexity, per piece")
        rate.set(xlabel="optimiser steps", ylabel="learning rate")
        rate.set_xlim(left=0)
        rate.xaxis.set_major_formatter("{x:,.0f}")
        if curves["dev_perplexity"].notna().any():
            perplexity.set_yscale("log")
            perplexity.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            perplexity.yaxis.set_major_formatter("{x:,g}")
            perplexity.yaxis.set_minor_formatter("")
        handles, labels = loss.get_legend_handles_labels()
        drawn.figure.legend(handles, labels, loc="outside right upper", fontsize=7)
        drawn.figure.align_ylabels()
    return drawn.svg


def _thinned(points: pd.DataFrame) -> pd.DataFrame:
    """At most POINTS evenly chosen ones, the last among them."""
    stride = max(1, -(-len(points) // POINTS))
    return points[::-stride][::-1]
