"""One page of tables from several scales: each table comes from a scale that has figures for it, and
every link leads into that scale's own report."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from aiayn.errors import ConfigError
from aiayn.report.paper_tables import PARTS, tables_html

REPRODUCTIONS = Path(__file__).parents[2] / "reproductions"


def test_each_table_comes_from_a_scale_that_has_figures_for_it(tmp_path: Path) -> None:
    folders = [REPRODUCTIONS / "multi30k_tiny", REPRODUCTIONS / "genia"]
    page = tables_html(folders, tmp_path / "tables.html")
    scales = dict(re.findall(r'#(\w+)"><strong>(\w+)</strong>', page))
    assert scales == dict.fromkeys(PARTS, "multi30k_tiny") | {"table_4": "genia"}
    links = re.findall(r'href="([^"#]+)#([^"]+)"', page)
    reports = {path: (tmp_path / unquote(path)).read_text() for path, _ in links}
    assert len(reports) == 2
    assert len(links) > len(PARTS)
    assert all(f'id="{unquote(name)}"' in reports[path] for path, name in links)


def test_a_scale_that_has_not_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Name scales that have run here"):
        tables_html([REPRODUCTIONS / "genia", tmp_path], tmp_path / "tables.html")


def test_a_report_that_was_not_rendered_is_not_linked_to(tmp_path: Path) -> None:
    page = tables_html([REPRODUCTIONS / "demo"], tmp_path / "tables.html")
    assert re.findall(r"From the scale <strong>(\w+)</strong>", page) == ["demo"] * len(PARTS)
    assert "index.html" not in page
    assert page.count("data-sources") > 10
