from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import matplotlib
import pytest

from aiayn.config import Config
from aiayn.report.evidence import leading_runs
from aiayn.report.learning_curves import POINTS, SHOWN, training_curves
from aiayn.report.page import inline
from aiayn.results.history import History, Line


def line(step: int, rate: float, loss: float, perplexity: float | None = None) -> Line:
    return Line(
        step=step, epoch=1.0, tokens=100 * step, learning_rate=rate, loss=loss,
        dev_perplexity=perplexity,
    )  # fmt: skip


HISTORY = History((line(10, 1e-4, 6.5), line(20, 2e-4, 5.5, 150.0), line(30, 1.5e-4, 4.75, 60.0)))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def config(load: Callable[[dict[str, Any]], Config], toy: dict[str, Any]) -> Config:
    return load(toy)


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(svg).iter(f"{SVG}text")]


def test_each_task_has_a_figure_that_names_its_axes_and_runs(config: Config) -> None:
    figures = list(training_curves(config, {"en-de.base": HISTORY, "en-fr.big": HISTORY}))
    assert [figure.name for figure in figures] == ["training_en-de", "training_en-fr"]
    for figure, run in zip(figures, ("en-de.base", "en-fr.big"), strict=True):
        labels = set(texts(figure.svg))
        assert {"optimiser steps", "training loss, nats per token", "learning rate", run} <= labels


def test_the_csv_has_every_point(config: Config) -> None:
    (figure,) = training_curves(config, {"en-de.base": HISTORY})
    lines = figure.data.to_csv(index=False).splitlines()
    assert lines[0] == "run,step,loss,dev_perplexity,learning_rate"
    assert lines[1:] == [
        "en-de.base,10,6.5,,0.0001",
        "en-de.base,20,5.5,150.0,0.0002",
        "en-de.base,30,4.75,60.0,0.00015",
    ]


def test_one_run_of_each_model_is_drawn_and_named(
    load: Callable[[dict[str, Any]], Config], toy: dict[str, Any]
) -> None:
    base = toy["runs"]["en-de.base"]
    toy["models"] |= {f"row{n}": dict(toy["models"]["base"]) for n in range(18)}
    rows = {f"en-de.row{n}": {**base, "model": f"row{n}"} for n in range(18)}
    seeds = {"en-de.base-s2": {**base, "seed": 2}}
    toy["runs"] |= rows | seeds
    runs = ["en-de.base", *rows, *seeds]
    (figure,) = training_curves(load(toy), dict.fromkeys(runs, HISTORY))
    shown = [run for run in runs if run in texts(figure.svg)]
    assert shown == runs[:SHOWN]
    assert figure.caption.startswith("8 of 20 runs, one of each model")
    assert set(figure.data["run"]) == set(runs)


def test_long_curves_are_thinned_to_their_end(config: Config) -> None:
    long = History(tuple(line(n, 1e-4, 5 + n % 7) for n in range(1, 5001)))
    (figure,) = training_curves(config, {"en-de.base": long})
    longest = max(
        len(re.findall("[ML]", path.get("d") or ""))
        for path in ET.fromstring(figure.svg).iter(f"{SVG}path")
    )
    assert longest <= POINTS
    assert len(figure.data) == 5000


def test_the_same_history_gives_the_same_bytes_whatever_the_matplotlib_settings(
    config: Config,
) -> None:
    (first,) = training_curves(config, {"en-de.base": HISTORY})
    with matplotlib.rc_context(
        {"xtick.direction": "in", "lines.marker": "o", "svg.hashsalt": None}
    ):
        (second,) = training_curves(config, {"en-de.base": HISTORY})
    assert first.svg == second.svg
    assert not re.search(r"<dc:date>|20\d\d-\d\d", first.svg)


def test_another_history_gives_another_curve(config: Config) -> None:
    changed = History((*HISTORY.lines[:2], line(30, 1.5e-4, 4.0, 60.0)))
    (first,) = training_curves(config, {"en-de.base": HISTORY})
    (second,) = training_curves(config, {"en-de.base": changed})
    assert first.svg != second.svg


def test_without_a_history_there_is_no_figure(config: Config) -> None:
    assert not list(training_curves(config, {}))


def test_a_run_that_was_never_validated_is_drawn(config: Config) -> None:
    short = History((line(10, 1e-4, 6.5),))
    (figure,) = training_curves(config, {"en-de.base": short})
    assert figure.data["dev_perplexity"].isna().all()


def test_names_are_text_not_markup(
    load: Callable[[dict[str, Any]], Config], toy: dict[str, Any]
) -> None:
    """Even if validation accepted it."""
    name, config = "<script>alert(1)</script> $x_1$", load(toy)
    named = config.model_copy(update={"runs": {name: config.runs["en-de.base"]}, "tested": (name,)})
    (figure,) = training_curves(named, {name: HISTORY})
    assert name in texts(figure.svg)
    assert "<script" not in figure.svg
    assert "<script" not in inline(figure.svg)


def test_inline_figures_share_no_ids_and_use_the_pages_text_colour(config: Config) -> None:
    (figure,) = training_curves(config, {"en-de.base": HISTORY})
    svg = inline(figure.svg)
    root = ET.fromstring(svg)
    ids = {node.get("id") for node in root.iter() if node.get("id")}
    referenced = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg))
    assert ids == {a or b for a, b in referenced}
    assert "currentColor" in svg
    assert not re.search(r"#2b2b2a|#fffffe", svg)
    assert root.get("viewBox")
    assert not root.get("width")


def test_leading_runs_are_one_of_each_model(config: Config) -> None:
    """The first run of each model: tested ones first, of these table 2's models."""
    base = config.runs["en-de.base"]
    runs = {
        "small": base.replace(model="small"), "base": base, "base-s2": base.replace(seed=2),
        "big": base.replace(model="big"), "other": base.replace(task="en-fr"),
    }  # fmt: skip
    named = config.model_copy(update={"runs": runs, "tested": ("base", "base-s2", "big")})
    assert leading_runs(named, "en-de") == ["base", "big"]
    for tested, leading in {
        (): ["base", "big"],
        ("small", "base", "big"): ["base", "big"],
        ("small", "big"): ["big", "small"],
        ("small",): ["small", "base"],
    }.items():
        assert leading_runs(named.model_copy(update={"tested": tested}), "en-de") == leading
