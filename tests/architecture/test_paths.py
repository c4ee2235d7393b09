"""Only results/paths.py contains the names of the graph's folders."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiayn.results import paths

ROOT = Path(__file__).resolve().parent.parent.parent
ALLOWED = {
    "src/aiayn/results/paths.py",
}
SOURCES = sorted(
    path for folder in ("src/aiayn", "pipeline") for path in (ROOT / folder).rglob("*.py")
)
FOLDERS = sorted(
    {
        str(value)
        for name, value in vars(paths).items()
        if name.isupper() and type(value) is type(ROOT)
    }
)
FOLDER = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, FOLDERS))})(/|$)")
FILES = re.compile(r"\.(hypotheses|offsets\.npy|safetensors)\b|\bmanifest\.json\b|\bmodel\.model\b")


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """The docstrings, which may name the files that a stage reads and writes."""
    bodies = (getattr(node, "body", ()) for node in ast.walk(tree))
    return {
        statement.value
        for body in bodies
        if isinstance(body, list)
        for statement in body
        if isinstance(statement, ast.Expr)
    }


def path_expressions(tree: ast.AST) -> Iterator[ast.AST]:
    """Expressions that are joined to a path, or converted to one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield node.left
            yield node.right
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Path":
            yield from node.args


def literal_paths(source: str) -> list[str]:
    """The literal paths in a module: any text with a file's ending or with a folder and something in
    it, and a folder's bare name in a path expression."""
    tree = ast.parse(source)
    texts = {
        node: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    docstring_nodes = docstrings(tree)
    names = set(path_expressions(tree))
    return [
        text
        for node, text in texts.items()
        if node not in docstring_nodes
        and (((found := FOLDER.search(text)) and (found[2] or node in names)) or FILES.search(text))
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_other_module_has_literal_paths(path: Path) -> None:
    if str(path.relative_to(ROOT)) not in ALLOWED:
        assert not literal_paths(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('root / "scores" / run', ["scores"]),
        ('Path("data/text", task)', ["data/text"]),
        ('f"models/{run}/averaged"', ["models/"]),
        ('write("see profiles/layers.json")', ["see profiles/layers.json"]),
        ('folder / f"{split}.hypotheses"', [".hypotheses"]),
        ('entry["scores"]', []),
        ('"a docstring on data/text"', []),
        ('print("models here")', []),
    ],
)
def test_literal_paths(source: str, found: list[str]) -> None:
    assert literal_paths(source) == found
