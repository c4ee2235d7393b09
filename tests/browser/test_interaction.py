"""What the report page's script does, in a real browser, on a published page: values under the pointer, series
switched off, tables sorted, columns hidden; and the page without it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.browser.chromium import CHROMIUM, Page, browser

REPORT = Path(__file__).resolve().parents[2] / "reproductions/multi30k_table3/reports"
# the last corner or mark of a series in a panel, on the screen
LAST_POINT = """((figure, panel, series) => {
  const group = [...document.querySelectorAll(`#figure-${figure} [data-x]`)][panel]
    .querySelector(`[data-series="${series}"]`);
  group.closest("figure").scrollIntoView({block: "center"});
  const path = group.querySelector(":scope > path");
  const svg = group.closest("svg");
  let point;
  if (path) {
    const corner = path.getAttribute("d").match(/[ML] [-\\d.]+ [-\\d.]+/g).at(-1).split(" ");
    point = new DOMPoint(+corner[1], +corner[2]).matrixTransform(svg.getScreenCTM());
  } else {
    const use = group.querySelector("use");
    point = new DOMPoint(+use.getAttribute("x"), +use.getAttribute("y")).matrixTransform(svg.getScreenCTM());
  }
  return [point.x, point.y];
})"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        page.screen(1280)
        yield page


@pytest.fixture
def page(tab: Page) -> Page:
    """The page as it was rendered."""
    tab.events.clear()
    tab.load((REPORT / "index.html").as_uri())
    return tab


def point_at(page: Page, figure: str, panel: int, series: str) -> list[str]:
    """The tooltip when the pointer is on the last point of a series."""
    x, y = page.run(f"{LAST_POINT}({json.dumps(figure)}, {panel}, {json.dumps(series)})")
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    return shown(page)


def click(page: Page, selector: str) -> None:
    """Click in the middle of an element."""
    x, y = page.run(
        "(element => { element.scrollIntoView({block: 'center'}); const box = element.getBoundingClientRect();"
        f" return [box.x + box.width / 2, box.y + box.height / 2]; }})(document.querySelector({json.dumps(selector)}))"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def shown(page: Page) -> list[str]:
    text = page.run(
        "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent"
    )
    return str(text).splitlines()


def column(page: Page, table: str, at: int) -> list[str]:
    """The texts of a table's column, from top to bottom; a cell over several columns counts for each of them."""
    found: list[str] = page.run(
        "((table, at) => [...table.querySelectorAll('tbody tr')].map(row => [...row.cells].flatMap(cell =>"
        " Array(cell.colSpan).fill(cell.querySelector('a, span').textContent))[at]))"
        f"(document.getElementById({json.dumps(table)}), {at})"
    )
    return found


def number(text: str) -> float:
    return float(text.rpartition(" ")[2].replace(",", "").replace("−", "-"))


def test_a_curve_shows_its_values(page: Page) -> None:
    curves = pd.read_csv(REPORT / "figures/training_en-de.csv")
    last = curves[curves["run"] == "en-de.base"].iloc[-1]
    for panel, name in enumerate(("loss", "dev_perplexity", "learning_rate")):
        run, step, value = point_at(page, "training_en-de", panel, "en-de.base")
        assert run == "en-de.base"
        assert step == f"optimiser steps: {last['step']:,.0f}"
        assert number(value) == pytest.approx(last[name], rel=1e-3)


def test_a_mark_of_table_3_shows_its_row(page: Page) -> None:
    points = pd.read_csv(REPORT / "figures/table_3_bleu.csv")
    for panel, origin in ((1, "paper"), (6, "ours")):
        row = points.query(f"origin == '{origin}' and varied == 'h' and row == 'A_h1'").iloc[0]
        name, heads, bleu = point_at(page, "table_3_bleu", panel, "A_h1")
        assert (name, heads) == ("A_h1", f"heads h: {row['x']:g}")
        assert bleu.startswith(f"{origin}: BLEU, dev: ")
        assert number(bleu) == pytest.approx(row["bleu"], abs=0.01)


def test_a_growth_curve_and_a_bar_show_their_values(page: Page) -> None:
    flops = (
        pd.read_csv(REPORT / "figures/table_1_flops_n.csv").query("layer == 'recurrent'").iloc[-1]
    )
    name, n, value = point_at(page, "table_1_flops_n", 0, "Recurrent")
    assert (name, n) == ("Recurrent", f"n: {flops['n']:,}")
    assert number(value) == pytest.approx(flops["term_flops"], rel=2e-3)
    targets = pd.read_csv(REPORT / "figures/smoothed_targets.csv")
    largest = targets.query("eps_ls == 0.1")["probability"].max()
    page.run("document.querySelector('#figure-smoothed_targets svg').focus()")
    values = set()
    for _ in range(len(targets)):
        page.press("ArrowRight")
        name, _, value = shown(page)
        if name == "ε_ls 0.1":
            values.add(round(number(value), 3))
    assert max(values) == pytest.approx(largest, abs=2e-3)


def test_a_touch_shows_a_value_until_the_next(page: Page) -> None:
    def touch(x: float, y: float) -> list[str]:
        page.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        page.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        return shown(page)

    page.send("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        run, *_ = touch(*page.run(f"{LAST_POINT}('training_en-de', 0, 'en-de.base')"))
        assert run == "en-de.base"
        middle = (
            "(cell => { cell.scrollIntoView({block: 'center'}); const box = cell.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })(document.querySelector('.heat td'))"
        )
        assert shown(page) != touch(*page.run(middle)) != []
    finally:
        page.send("Emulation.setTouchEmulationEnabled", enabled=False)


def test_the_weights_of_a_head_are_shown(page: Page) -> None:
    """As written in the page, under the pointer and by keyboard."""
    written = re.findall(r'<td [^>]*title="([^"]* → [^"]*)"', (REPORT / "index.html").read_text())
    x, y = page.run(
        "(cell => { cell.scrollIntoView({block: 'center'}); const box = cell.getBoundingClientRect();"
        " return [box.x + box.width / 2, box.y + box.height / 2]; })(document.querySelectorAll('.heat td')[3])"
    )
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert shown(page) == [html.unescape(written[3])]
    page.run("document.querySelector('.heat').focus()")
    page.press("ArrowRight")
    page.press("ArrowLeft")
    assert shown(page) == [html.unescape(written[3])]
    page.press("ArrowDown")
    columns = page.run("document.querySelector('.heat').rows[0].cells.length - 1")
    assert shown(page) == [html.unescape(written[3 + columns])]


def test_values_by_keyboard(page: Page) -> None:
    page.run("document.querySelector('#figure-training_en-de svg').focus()")
    assert shown(page) == []
    page.press("ArrowRight")
    first = shown(page)
    page.press("ArrowRight")
    assert first != shown(page) != []
    page.press("ArrowLeft")
    assert shown(page) == first
    page.press("Escape")
    assert shown(page) == []


@pytest.mark.parametrize("device", ["pointer", "keyboard"])
def test_an_entry_of_the_legend_switches_its_series_off(page: Page, device: str) -> None:
    key = '#figure-training_en-de [data-key="en-de.base"][role]'
    visible = (
        "[...document.querySelectorAll('#figure-training_en-de [data-series]')].filter(group =>"
        " getComputedStyle(group).display != 'none').map(group => group.dataset.series)"
    )
    before = page.run(visible)

    def toggle() -> None:
        if device == "pointer":
            click(page, key)
        else:
            page.run(f"document.querySelector({json.dumps(key)}).focus()")
            page.press("Enter")

    toggle()
    assert page.run(visible) == [series for series in before if series != "en-de.base"]
    assert page.run(f"document.querySelector({json.dumps(key)}).ariaPressed") == "false"
    toggle()
    assert page.run(visible) == before


def pairs(page: Page, table: str) -> list[tuple[str, str]]:
    """Each row of ours, and the row above it."""
    found: list[list[str]] = page.run(
        f"[...document.querySelectorAll('#{table} tr.paper + tr.ours')].map(row =>"
        " [row.previousElementSibling.textContent, row.textContent])"
    )
    return sorted((above, ours) for above, ours in found)


def blocks(page: Page, table: str, at: int) -> list[list[float]]:
    """The numbers of our rows in a column, block by block."""
    found: list[list[float]] = page.run(
        f"[...document.getElementById('{table}').tBodies].map(body => [...body.rows].filter(row =>"
        f" row.matches('.ours')).map(row => parseFloat([...row.cells].flatMap(cell =>"
        f" Array(cell.colSpan).fill(cell.textContent))[{at}])))"
    )
    return found


def test_table_3_is_sorted_within_its_blocks_and_restored(page: Page) -> None:
    heading = "#table-3 th:nth-child(12)"
    order, row_pairs = column(page, "table-3", 0), pairs(page, "table-3")
    written, numbers = column(page, "table-3", 11), blocks(page, "table-3", 11)
    assert max(map(len, numbers)) > 3
    for direction in ("ascending", "descending"):
        click(page, f"{heading} button")
        assert page.run(f"document.querySelector({json.dumps(heading)}).ariaSort") == direction
        down = direction == "descending"
        expected = [sorted(block, reverse=down) for block in numbers]
        assert blocks(page, "table-3", 11) == expected != numbers
        assert column(page, "table-3", 0) == order, "a row has left its block, or ours the paper's"
        assert pairs(page, "table-3") == row_pairs
    click(page, f"{heading} button")
    assert column(page, "table-3", 11) == written
    assert page.run(f"document.querySelector({json.dumps(heading)}).ariaSort") is None


@pytest.mark.parametrize("table", ["table-1", "table-2"])
def test_our_rows_stay_below_the_papers(page: Page, table: str) -> None:
    order, row_pairs = column(page, table, 0), pairs(page, table)
    page.run(f"document.querySelector('#{table} th:nth-child(2) button').focus()")
    page.press("Enter")
    assert page.run(f"document.querySelector('#{table} th:nth-child(2)').ariaSort") == "ascending"
    assert column(page, table, 0) != order
    assert pairs(page, table) == row_pairs


def test_powers_of_ten_are_sorted_as_numbers(page: Page) -> None:
    heading = "#table-2 th:nth-child(4)"
    click(page, f"{heading} button")
    powers = [text for text in column(page, "table-2", 3) if "·10" in text]
    superscripts = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    values = [float(text.translate(superscripts).replace("·10", "e")) for text in powers]
    assert len(values) > 3
    assert values == sorted(values)


def test_a_column_is_hidden(page: Page) -> None:
    widths = (
        "[...document.getElementById('table-3').rows].map(row => [...row.cells].reduce((sum, cell) =>"
        " sum + (cell.hidden ? 0 : cell.colSpan), 0))"
    )
    before = set(page.run(widths))
    assert len(before) == 1
    page.run("document.querySelector('#table_3 .columns').open = true")
    for box, hidden in ((4, 1), (9, 2), (4, 1), (9, 0)):
        click(page, f"#table_3 .columns label:nth-of-type({box}) input")
        assert set(page.run(widths)) == {before.copy().pop() - hidden}


def test_a_phone_offers_the_columns_that_it_shows(page: Page) -> None:
    page.screen(390)
    try:
        page.run("document.querySelector('#table_3 .columns').open = true")
        offered, visible = page.run(
            "['#table_3 .columns label', '#table-3 th:not(:first-child)'].map(selector =>"
            " [...document.querySelectorAll(selector)].filter(element => element.checkVisibility())"
            ".map(element => element.textContent.trim()))"
        )
        assert offered == visible != []
    finally:
        page.screen(1280)


def test_it_makes_no_requests_and_logs_no_errors(page: Page) -> None:
    assert [
        address for address in page.requests() if not address.startswith(("file:", "data:"))
    ] == []
    assert page.console_messages() == []


def test_without_scripts_the_content_is_complete(page: Page) -> None:
    count: dict[str, Any] = {
        selector: page.run(f"document.querySelectorAll({json.dumps(selector)}).length")
        for selector in ("figure svg", "table tr", "td a", "[data-series]")
    }
    assert min(count.values()) > 10
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.load((REPORT / "index.html").as_uri())
        for selector, expected in count.items():
            assert page.run(f"document.querySelectorAll({json.dumps(selector)}).length") == expected
        assert page.run("document.querySelectorAll('th button, .columns, #tip').length") == 0
    finally:
        page.send("Emulation.setScriptExecutionDisabled", value=False)


def test_a_claim_under_the_pointer_is_named(page: Page) -> None:
    """The axis of claims has names in place of numbers."""
    claims = pd.read_csv(REPORT / "figures/claims.csv")
    for panel, measure in enumerate(("bleu", "perplexity")):
        first = claims.query(f"measure == '{measure}' and verdict.str.startswith('holds')").iloc[0]
        verdict, effect, label = point_at(page, "claims", panel, "ours: holds")
        assert (verdict, label) == ("ours: holds", first["label"])
        assert number(effect) == pytest.approx(first["ours"], abs=0.1)
