"""Run the tour and write it with its outputs as Markdown: `make tour`.

`en/*.py` are notebooks in jupytext's percent format, `zh/*.py` the same notebooks in Chinese: the
code is copied from the English ones, run once, and its outputs stand in both pages. What a cell
prints is shown as text, the value of its last line as a table (DataFrame), a picture (a figure of
the project or of matplotlib) or text.
"""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import matplotlib.style
import pandas as pd
import torch
from cycler import cycler
from matplotlib.axes import Axes

from aiayn.report.drawing import PALETTE, STYLE, to_svg
from aiayn.report.section import Figure

HERE = Path(__file__).parent
NOTEBOOKS = sorted((HERE / "en").glob("*.py"))
MARKER = "# %%"
MARKDOWN = "# %% [markdown]"


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook: prose as Markdown, or code, and the line on which it begins."""

    is_code: bool
    text: str
    line: int = field(compare=False)


@dataclass(frozen=True)
class Picture:
    """An SVG and its title."""

    title: str
    svg: str


Output = str | Picture
"""Of a code cell: Markdown, or a picture."""


def cells(path: Path) -> list[Cell]:
    """The cells of a notebook.

    Raises:
        ValueError: a line of prose is no comment.
    """
    found: list[Cell] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(MARKER):
            found.append(Cell(line != MARKDOWN, "", number + 1))
            continue
        cell = found[-1]
        if not cell.is_code:
            if line and line != "#" and not line.startswith("# "):
                raise ValueError(f"{path}, line {number}: not a comment, in a cell of prose")
            line = line.removeprefix("#").removeprefix(" ")
        found[-1] = Cell(cell.is_code, f"{cell.text}{line}\n", cell.line)
    return [Cell(cell.is_code, cell.text.strip("\n"), cell.line) for cell in found]


def source(notebook: Sequence[Cell]) -> str:
    """The notebook as its file holds it."""
    parts = []
    for cell in notebook:
        if cell.is_code:
            parts.append(f"{MARKER}\n{cell.text}\n")
        else:
            lines = (f"# {line}".rstrip() for line in cell.text.split("\n"))
            parts.append("\n".join([MARKDOWN, *lines, ""]))
    return "\n".join(parts)


def with_code_of(english: Sequence[Cell], other: Sequence[Cell]) -> list[Cell]:
    """The prose of `other`, with the code of `english`.

    Raises:
        ValueError: prose and code do not alternate alike in both.
    """
    if [cell.is_code for cell in english] != [cell.is_code for cell in other]:
        raise ValueError("the cells of prose and of code are not in the same order")
    return [ours if ours.is_code else theirs for ours, theirs in zip(english, other, strict=True)]


def run(path: Path) -> Iterator[list[Output]]:
    """Run a notebook; yields the outputs of each cell, none for prose."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    plt.switch_backend("svg")
    torch.set_float32_matmul_precision("highest")  # as in a process of its own
    style = {
        **STYLE,
        "axes.prop_cycle": cycler(color=PALETTE),
        "figure.constrained_layout.use": True,
        "figure.figsize": (6.4, 3.0),
        "text.parse_math": True,  # powers of ten
    }
    with matplotlib.style.context(["default", style]):
        for cell in cells(path):
            yield list(_outputs(cell, path, namespace)) if cell.is_code else []
            plt.close("all")


def _outputs(cell: Cell, path: Path, namespace: dict[str, Any]) -> Iterator[Output]:
    # empty lines in front, so that a traceback shows the file's own lines
    tree = ast.parse("\n" * (cell.line - 1) + cell.text, str(path))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, path, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), path, "eval"), namespace)
    if printed.getvalue():
        yield f"```text\n{printed.getvalue().rstrip()}\n```"
    if isinstance(value, pd.DataFrame):
        yield _table(value)
    elif isinstance(value, Axes):
        figure = value.get_figure(root=True)
        assert figure is not None
        yield Picture(value.get_title(), to_svg(figure))
    elif isinstance(value, Figure):
        yield Picture(value.title, value.svg)
    elif value is not None:
        yield f"```text\n{value}\n```"


def _table(frame: pd.DataFrame) -> str:
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name:
        frame = frame.reset_index(names=str(frame.index.name or ""))
    numeric = frame.map(lambda value: isinstance(value, int | float)).all()
    rules = ["--:" if is_numeric else ":--" for is_numeric in numeric]
    lines = [map(_cell, frame.columns), rules, *(map(_cell, row) for row in frame.to_numpy(object))]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:,.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = "" if value is pd.NA else str(value)
    return text.replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*").replace("_", r"\_")


def page(notebook: Sequence[Cell], outputs: Sequence[Sequence[Output]], name: str) -> str:
    """The notebook and its outputs as Markdown; pictures are files of `figures`."""
    parts, number = [], 0
    for cell, found in zip(notebook, outputs, strict=True):
        parts.append(f"```python\n{cell.text}\n```" if cell.is_code else cell.text)
        for output in found:
            if isinstance(output, Picture):
                number += 1
                file = f"../figures/{name}_{number}.svg"
                if "<title>" in output.svg:  # shown under the pointer, but not in an <img>
                    shown = f'<img src="{file}" alt="{output.title}">'
                    parts.append(
                        f'<object type="image/svg+xml" data="{file}" style="max-width: 100%">'
                        f"{shown}</object>"
                    )
                else:
                    parts.append(f"![{output.title}]({file})")
            else:
                parts.append(output)
    return "\n\n".join(parts) + "\n"


def title(notebook: Sequence[Cell]) -> str:
    """The heading of its first cell."""
    return notebook[0].text.partition("\n")[0].removeprefix("# ")


def contents() -> str:
    """docs/tour/README.md: the pages in both languages."""
    lines = [
        "# The paper, section by section, in this code",
        "",
        '"Attention Is All You Need" as notebooks: each formula beside the code, run '
        "and checked. They import `aiayn`, torch and pandas; any editor with notebook support "
        "opens the `.py` files (jupytext's percent format). `make tour` runs them all, in half a "
        "minute of one core, and writes these pages.",
        "",
        "| English | 中文 | notebook |",
        "| :-- | :-- | :-- |",
    ]
    for path in NOTEBOOKS:
        english, chinese = (title(cells(HERE / lang / path.name)) for lang in ("en", "zh"))
        page, links = f"{path.stem}.md", f"[en](en/{path.name}), [zh](zh/{path.name})"
        lines.append(f"| [{english}](en/{page}) | [{chinese}](zh/{page}) | {links} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run every notebook and write the pages."""
    figures = HERE / "figures"
    figures.mkdir(exist_ok=True)
    for old in figures.glob("*.svg"):
        old.unlink()
    for path in NOTEBOOKS:
        english = cells(path)
        chinese_path = HERE / "zh" / path.name
        chinese = with_code_of(english, cells(chinese_path))
        chinese_path.write_text(source(chinese), encoding="utf-8")
        outputs = list(run(path))
        pictures = (o for found in outputs for o in found if isinstance(o, Picture))
        for number, picture in enumerate(pictures, 1):
            (figures / f"{path.stem}_{number}.svg").write_text(picture.svg, encoding="utf-8")
        for lang, notebook in (("en", english), ("zh", chinese)):
            text = page(notebook, outputs, path.stem)
            (HERE / lang / f"{path.stem}.md").write_text(text, encoding="utf-8")
    (HERE / "README.md").write_text(contents(), encoding="utf-8")


if __name__ == "__main__":
    main()
