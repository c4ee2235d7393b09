"""The tour runs, its pages are those of its notebooks, and it uses public names alone."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import aiayn
from aiayn import components

TOUR = Path(__file__).parents[2] / "docs/tour"
NOTEBOOKS = sorted(path.stem for path in (TOUR / "en").glob("*.py"))
TEN_CELLS = "0_ten_cells"
PUBLIC = {"aiayn": aiayn.__all__, "aiayn.components": components.__all__}
OTHERS = {"inspect", "math", "pandas", "torch"}
NUMBER = re.compile(r"[-−]?\d[\d,.]*(?:e[-+]?\d+)?")


@pytest.fixture(scope="module")
def render() -> ModuleType:
    spec = importlib.util.spec_from_file_location("render", TOUR / "render.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["render"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Modules, and the names that are taken from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_cell_uses_a_private_name(name: str) -> None:
    tree = ast.parse((TOUR / f"en/{name}.py").read_text(encoding="utf-8"))
    for module, part in imported(tree):
        assert module in PUBLIC or module in OTHERS, module
        assert not part or part in PUBLIC[module], part
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not [attribute for attribute in used if attribute.startswith("_")]


def test_a_notebook_of_ten_cells_imports_the_package_and_pandas_alone(render: ModuleType) -> None:
    path = TOUR / f"en/{TEN_CELLS}.py"
    assert len([cell for cell in render.cells(path) if cell.is_code]) == 10
    assert {module for module, _ in imported(ast.parse(path.read_text()))} == {"aiayn", "pandas"}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_chinese_edition_has_the_same_code(render: ModuleType, name: str) -> None:
    english, chinese = (render.cells(TOUR / lang / f"{name}.py") for lang in ("en", "zh"))
    assert chinese == render.with_code_of(english, chinese), "make tour"
    for cell, translated in zip(english, chinese, strict=True):
        if not cell.is_code:
            assert re.search("[\u4e00-\u9fff]", translated.text), translated.text
            for mark in ("##", "$$", "**", "|"):  # as many headings, formulas and tables
                assert translated.text.count(mark) == cell.text.count(mark), translated.text


def test_code_that_differs_is_seen(render: ModuleType) -> None:
    english = [render.Cell(False, "One", 1), render.Cell(True, "a = 1", 4)]
    chinese = [render.Cell(False, "一", 1), render.Cell(True, "a = 2", 4)]
    assert render.with_code_of(english, chinese) == [chinese[0], english[1]] != chinese
    with pytest.raises(ValueError, match="not in the same order"):
        render.with_code_of(english, chinese[::-1])


def comparable(page: str) -> str:
    """Without what differs between machines: the last digits of what was trained, so all numbers,
    and with them the widths of columns."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", page))


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_cell_runs_and_the_pages_show_what_it_gives(render: ModuleType, name: str) -> None:
    path = TOUR / f"en/{name}.py"
    outputs = list(render.run(path))
    for lang in ("en", "zh"):
        page = render.page(render.cells(TOUR / lang / path.name), outputs, name)
        there = (TOUR / lang / f"{name}.md").read_text(encoding="utf-8")
        assert comparable(page) == comparable(there), "make tour"
        for picture in re.findall(r"\.\./figures/[\w.]+", there):
            assert (TOUR / lang / picture).is_file(), picture
    pictures = [o for found in outputs for o in found if isinstance(o, render.Picture)]
    assert all(picture.title for picture in pictures)


def test_the_contents_name_every_page(render: ModuleType) -> None:
    assert (TOUR / "README.md").read_text(encoding="utf-8") == render.contents(), "make tour"


def test_a_failing_cell_names_its_line(render: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "failing.py"
    path.write_text("# %% [markdown]\n# # Title\n\n# %%\na = 1\nassert a == 2\n")
    with pytest.raises(AssertionError) as caught:
        list(render.run(path))
    assert caught.traceback[-1].lineno == 5  # counted from 0
