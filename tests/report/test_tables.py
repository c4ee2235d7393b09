from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiayn.report.tables import (
    Cell,
    csv_text,
    latex,
    markdown,
    not_run,
    numbers,
    p_value,
    power_of_ten,
    row,
    signed,
    table,
    text,
)

TABLE = table(
    "Title",
    text("Name") + numbers("A", "B"),
    (
        row(Cell("plain", detail="who"), "1.0", None),
        row("ours", Cell("2.00", sources=("s",)), Cell("x", mark="a"), tone="ours"),
        row("wide", "both"),
    ),
    (("a", "A note."), "A remark."),
)


def test_markdown() -> None:
    assert markdown([TABLE]) == (
        "## Title\n\n"
        "| Name | A | B |\n"
        "| :-- | --: | --: |\n"
        "| plain (who) | 1.0 | – |\n"
        "| ours | **2.00** | x<sup>a</sup> |\n"
        "| wide | both | both |\n\n"
        "- <sup>a</sup> A note.\n- A remark.\n"
    )


def test_latex() -> None:
    text = latex([TABLE])
    assert r"\begin{tabular}{lrr}" in text
    assert r"plain {\footnotesize(who)} & 1.0 & -- \\" in text
    assert r"wide & \multicolumn{2}{c}{both} \\" in text
    assert r"\textsuperscript{a}A note." in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 2


def test_markup_in_text_is_escaped() -> None:
    hostile = table("t", text("h"), [row("<script>|a_b*&\nc [x](y)")])
    shown = markdown([hostile])
    assert r"\<script\>\|a\_b\*\& c \[x\](y)" in shown
    assert len([line for line in shown.splitlines() if line.startswith("|")]) == 3
    escaped = latex([table("t", text("h"), [row(r"50% of a_b & \x {$#^~}")])])
    assert (
        r"50\% of a\_b \& \textbackslash{}x \{\$\#\textasciicircum{}\textasciitilde{}\} \\"
        in escaped
    )


def test_numbers_are_typeset() -> None:
    assert power_of_ten("1.0e20") == "1.0·10²⁰"
    assert signed(-0.2) == "−0.20"
    assert signed(0.42) == "+0.42"
    assert r"$\lceil$n / r$\rceil$" in latex([table("t", text("h"), [row("⌈n / r⌉")])])
    assert r"2.3$\cdot$10\textsuperscript{19} & $-$1.00 \\" in latex(
        [table("t", numbers("a", "b", form="+.2f"), [row(power_of_ten("2.3e19"), -1)])]
    )


ANY_TEXT = st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]))


@given(st.lists(st.fixed_dictionaries({"a": ANY_TEXT, "b,": ANY_TEXT}), min_size=1, max_size=5))
def test_csv_can_be_read_back(records: list[dict[str, str]]) -> None:
    assert list(csv.DictReader(io.StringIO(csv_text(pd.DataFrame(records)), newline=""))) == records


def test_a_column_has_an_alignment_and_a_number_format() -> None:
    built = table(
        "Title",
        text("Name") + numbers("Pairs") + numbers("Difference", form="+.2f"),
        (row("a", 1234, -0.5), row("b", None, Cell("as it is")), row("c", "rest", tone="ours")),
        ("A remark.", ("a", "A note.")),
        key="t",
    )
    assert built.headings == ("Name", "Pairs", "Difference")
    assert [[cell.text for cell in row.cells] for row in built.rows] == [
        ["a", "1,234", "−0.50"], ["b", "–", "as it is"], ["c", "rest"],
    ]  # fmt: skip
    assert [
        [(cell.span, side) for cell, side, _ in built.placed(row)] for row in built.rows
    ] == [
        [(1, "l"), (1, "r"), (1, "r")], [(1, "l"), (1, "r"), (1, "r")], [(1, "l"), (2, "c")],
    ]  # fmt: skip
    assert [row.tone for row in built.rows] == ["", "", "ours"]
    assert built.notes == (("", "A remark."), ("a", "A note."))
    with pytest.raises(ValueError, match="more values than columns"):
        table("Title", text("Name"), [row("a", "b")])


def test_runs_without_results_are_named() -> None:
    assert [*not_run({"a": {"dev": 1}, "b": None, "c": {}}, {"c": "no disk"})] == [
        "Not run: b, c (no disk)."
    ]
    assert [*not_run({"a": 1}, {})] == []


def test_no_p_value_is_zero() -> None:
    assert [p_value(p) for p in (1.0, 0.04999, 0.0001, 0.00009, 0.0)] == [
        "1.0000", "0.0500", "0.0001", "<0.0001", "<0.0001",
    ]  # fmt: skip


def test_rows_of_a_block_are_grouped() -> None:
    built = table(
        "Title",
        text("Row") + numbers("N", "h", minor=True) + numbers("BLEU"),
        [row("a", 1, 2, 3, block="x"), row("b", Cell("both", span=2), 3, block="x"), row("c", block="y")],
    )  # fmt: skip
    assert [[row.cells[0].text for row in rows] for rows in built.blocks] == [["a", "b"], ["c"]]
    assert [minor for _, _, minor in built.placed(built.rows[0])] == [False, True, True, False]
    assert [minor for _, _, minor in built.placed(built.rows[1])] == [False, True, False]
