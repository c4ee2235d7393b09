"""Training curves: a figure a task, in which the leading runs stand out from the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from aiayn.config import Config
from aiayn.report.evidence import Evidence, leading_runs, runs_of, tested_fold
from aiayn.report.parts.drawing import DASHES, INK, PALETTE, drawing
from aiayn.report.parts.section import Figure, Section
from aiayn.results.history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 200  # a curve's at most: more would only make the page heavy; the CSV has them all


def section(evidence: Evidence) -> Section:
    """The courses of all trainings so far."""
    return Section(
        key="training",
        title="Training",
        subtitle="loss, perplexity and learning rate by step",
        lead="Loss is that of the smoothed labels (section 5.4); perplexity is that of the plain "
        "ones, for each word piece of the development set.",
        tables=(),
        records=(),
        figures=tuple(training_curves(evidence.config, evidence.histories)),
    )


def training_curves(config: Config, histories: Mapping[str, History]) -> Iterator[Figure]:
    """A figure for each task of which a run has a history; the folds of one text share theirs."""
    for first, *more in _figures(config):
        runs = [run for task in (first, *more) for run in runs_of(config, task) if run in histories]
        if any(histories[run].step for run in runs):
            leading = [run for run in leading_runs(config, first) if run in runs]
            others = [run for run in runs if run not in leading]
            grey = f"{len(others)} more, of all folds" if more else ", ".join(others)
            caption = f"Runs: {', '.join(leading or others)}."
            if leading and others:
                caption = f"In colour: {', '.join(leading)}. In grey: {grey}."
            yield Figure(
                name=f"training_{first}",
                title=f"Training on {first}" + (f" and {len(more)} more folds" if more else ""),
                caption=f"{caption} Measured by the stage train.",
                svg=_draw(
                    {run: histories[run] for run in (*others, *leading)},
                    leading,
                    "other folds" if more else "other runs",
                ),
                records=[line for run in runs for line in _records(run, histories[run])],
            )


def _figures(config: Config) -> Iterable[Sequence[str]]:
    """Tasks by figure, in the order of params.yaml."""
    tasks_of: dict[object, list[str]] = {}
    for task in config.tasks:
        text, _ = tested_fold(config, task) or (task, None)
        tasks_of.setdefault(text, []).append(task)
    return tasks_of.values()


def _records(run: str, history: History) -> Iterator[dict[str, str]]:
    perplexity = dict(zip(history.dev_step, history.dev_perplexity, strict=True))
    for step, loss, rate in zip(history.step, history.loss, history.learning_rate, strict=True):
        yield {
            "run": run,
            "step": f"{step}",
            "loss": f"{loss}",
            "dev_perplexity": f"{perplexity.get(step, '')}",
            "learning_rate": f"{rate}",
        }


def _draw(histories: Mapping[str, History], leading: Sequence[str], others: str) -> str:
    """Three panels over one axis of steps; `others` is what the runs in grey are called."""
    with drawing(6.4, 6.6) as drawn:
        loss, perplexity, rate = drawn.figure.subplots(3, sharex=True)
        several = len(histories) > len(leading)
        for run, held in histories.items():
            style = _style(run, leading)
            loss.plot(*_thinned(held.step, held.loss), **style)
            perplexity.plot(*_thinned(held.dev_step, held.dev_perplexity), **style)
            rate.plot(*_thinned(held.step, held.learning_rate), **style)
        if several:
            loss.plot([], [], color=INK, alpha=0.35, linewidth=0.8, label=others)
        loss.set_ylabel("training loss, nats a token")
        perplexity.set_ylabel("dev perplexity, per piece")
        rate.set_ylabel("learning rate")
        rate.set_xlabel("optimiser steps")
        rate.set_xlim(left=0)
        _count_steps(rate)
        if any(held.dev_step for held in histories.values()):
            _make_logarithmic(perplexity)
        loss.legend(loc="upper right")
        drawn.figure.align_ylabels()
    return drawn.svg


def _style(run: str, leading: Sequence[str]) -> dict[str, object]:
    """Leading runs differ in dash as well as in colour."""
    if run not in leading:
        return {"color": INK, "alpha": 0.35, "linewidth": 0.8}
    place = leading.index(run)
    # matplotlib leaves a label that begins with an underscore out of the legend
    return {"color": PALETTE[place], "linestyle": DASHES[place], "label": run.lstrip("_")}


def _thinned(
    steps: Sequence[int], values: Sequence[float]
) -> tuple[Sequence[int], Sequence[float]]:
    """Evenly chosen points, the last among them."""
    stride = -(-len(steps) // POINTS) or 1
    kept = range(len(steps) - 1, -1, -stride)[::-1]
    return [steps[n] for n in kept], [values[n] for n in kept]


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
