from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import matplotlib
import pytest
from aiayn.report.figures import training_curves

from aiayn.config import Config
from aiayn.report.page import inline
from aiayn.report.results import History

HISTORY = History((10, 20, 30), (1e-4, 2e-4, 1.5e-4), (6.5, 5.5, 4.75), (20, 30), (150.0, 60.0))


@pytest.fixture
def config(load: Callable[[dict[str, Any]], Config], toy: dict[str, Any]) -> Config:
    return load(toy)


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_each_figure_names_its_axes_and_runs(config: Config) -> None:
    figures = training_curves(config, {"en-de.base": HISTORY, "en-fr.big": HISTORY})
    assert sorted(figures) == ["dev_perplexity.svg", "learning_rate.svg", "training_loss.svg"]
    for svg in figures.values():
        said = texts(svg)
        assert {"optimiser steps", "en-de.base", "en-fr.big"} <= set(said)
    assert "dev perplexity, per word piece" in texts(figures["dev_perplexity.svg"])


def test_the_same_history_gives_the_same_bytes_whatever_the_readers_settings(
    config: Config,
) -> None:
    first = training_curves(config, {"en-de.base": HISTORY})
    with matplotlib.rc_context(
        {"xtick.direction": "in", "lines.marker": "o", "svg.hashsalt": None}
    ):
        assert training_curves(config, {"en-de.base": HISTORY}) == first
    assert not any(re.search(r"<dc:date>|20\d\d-\d\d", svg) for svg in first.values())


def test_another_history_gives_another_curve(config: Config) -> None:
    other = History(HISTORY.step, HISTORY.learning_rate, (6.5, 5.5, 4.0), (20, 30), (150.0, 60.0))
    first = training_curves(config, {"en-de.base": HISTORY})
    second = training_curves(config, {"en-de.base": other})
    assert first["training_loss.svg"] != second["training_loss.svg"]
    assert first["dev_perplexity.svg"] == second["dev_perplexity.svg"]


def test_without_a_history_there_is_no_figure(config: Config) -> None:
    assert training_curves(config, {}) == {}


def test_a_run_that_was_never_validated_has_no_perplexity_to_draw(config: Config) -> None:
    short = History((10,), (1e-4,), (6.5,), (), ())
    alone = training_curves(config, {"en-de.base": short})
    assert sorted(alone) == ["learning_rate.svg", "training_loss.svg"]
    assert len(training_curves(config, {"en-de.base": short, "en-de.big": HISTORY})) == 3


def test_names_are_text_not_markup(
    load: Callable[[dict[str, Any]], Config], toy: dict[str, Any]
) -> None:
    name = "<script>alert(1)</script> $x_1$"
    toy["runs"][name] = toy["runs"]["en-de.base"]
    for svg in training_curves(load(toy), {name: HISTORY}).values():
        assert name in texts(svg)
        assert "<script" not in svg
        assert "<script" not in inline(svg)


def test_inline_figures_share_no_ids_and_take_the_pages_ink(config: Config) -> None:
    svg = inline(training_curves(config, {"en-de.base": HISTORY})["training_loss.svg"])
    root = ET.fromstring(svg)
    ids = {node.get("id") for node in root.iter() if node.get("id")}
    referred = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg))
    assert ids == {a or b for a, b in referred}
    assert "currentColor" in svg
    assert not re.search(r"#2b2b2a|#fffffe", svg)
    assert root.get("viewBox")
    assert not root.get("width")
