"""Table 3's figures over hand-made results: each row is placed by what it varies."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from aiayn.report.evidence import Evidence
from aiayn.report.table_3 import section
from aiayn.report.table_3_figures import varied_alone


def test_figures_place_each_row_by_what_it_varies(one_seed: Evidence) -> None:
    figures = {figure.name: figure for figure in section(one_seed).figures}
    assert list(figures) == ["table_3_bleu", "table_3_perplexity"]
    for figure in figures.values():
        assert ET.fromstring(figure.svg).tag == "{http://www.w3.org/2000/svg}svg"
    records = figures["table_3_bleu"].data.set_index("origin")
    ours = records.loc["ours"].set_index(["varied", "row"])[["x", "bleu", "mark"]]
    assert dict(zip(ours.index, map(tuple, ours.to_numpy()), strict=True)) == {
        ("parameters", "small"): ("0.25", "30", "base"),
        ("parameters", "C_N2"): ("0.29", "29.9", ""),
        ("h", "small"): ("8", "30", "base"),
        ("h", "A_h1"): ("1", "28", ""),
        ("h", "A_h16"): ("16", "33", ""),
        ("h", "A_h2"): ("2", "31", "own"),
        ("d_k", "small"): ("8", "30", "base"),
        ("d_k", "B_dk16"): ("2", "31.5", ""),
        ("P_drop", "small"): ("0.03", "30", "base"),
        ("P_drop", "D_drop00"): ("0", "29", ""),
        ("eps_ls", "small"): ("0.1", "30", "base"),
    }
    paper = records.loc["paper"].set_index("varied").loc["h", ["row", "x", "bleu"]]
    of_heads = {row: (x, bleu) for row, x, bleu in paper.to_numpy()}
    assert of_heads == {
        "base": ("8", "25.8"), "A_h1": ("1", "24.9"), "A_h4": ("4", "25.5"),
        "A_h16": ("16", "25.8"), "A_h32": ("32", "25.4"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "panel"),
    [
        ({"h", "d_k", "d_v"}, "h"),
        ({"h", "d_k", "d_v", "N"}, "parameters"),
        ({"d_k"}, "d_k"),
        ({"d_k", "d_v"}, "parameters"),
        ({"eps_ls"}, "eps_ls"),
        ({"positions"}, "parameters"),
        (set(), "parameters"),
    ],
)
def test_what_a_row_varies(changed: set[str], panel: str) -> None:
    assert varied_alone(changed) == panel
