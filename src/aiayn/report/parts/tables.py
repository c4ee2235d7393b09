"""A table once, in three notations: Markdown, LaTeX, and (through the page's template) HTML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

EMPTY = "–"
MINUS = "−"
DIGITS, SUPERSCRIPTS = "0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"

LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}",
    EMPTY: "--", MINUS: "$-$", "·": r"$\cdot$", "×": r"$\times$",
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """What one cell says.

    `detail` is a remark in smaller print, `mark` refers to a note, `span` counts the columns it
    takes. A cell of ours names in `sources` where each number of `text` and `detail`, in that
    order, stands in a score file, and in `run` whose it is. `tone` is a word for the page's style
    sheet, such as a verdict's.
    """

    text: str
    detail: str = ""
    mark: str = ""
    span: int = 1
    sources: tuple[str, ...] = ()
    run: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Row:
    """Cells from left to right; `tone` is a word for the page's style sheet."""

    cells: tuple[Cell, ...]
    tone: str = ""


@dataclass(frozen=True)
class Table:
    """`alignment` has l or r for each heading; `notes` go by mark, "" for a general remark."""

    title: str
    headings: tuple[str, ...]
    alignment: str
    rows: tuple[Row, ...]
    notes: tuple[tuple[str, str], ...] = ()
    key: str = field(default="", kw_only=True)


def power_of_ten(printed: str) -> str:
    """1.0e20 as 1.0·10²⁰."""
    mantissa, _, exponent = printed.partition("e")
    return f"{mantissa}·10{exponent.translate(str.maketrans(DIGITS, SUPERSCRIPTS))}"


def signed(value: float) -> str:
    """With its sign, a true minus, and two decimals."""
    return f"{value:+.2f}".replace("-", MINUS)


def markdown(tables: Sequence[Table]) -> str:
    """The tables under headings, notes below each."""
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    rules = [{"l": ":--", "r": "--:"}[side] for side in table.alignment]
    lines = [table.headings, rules]
    for row in table.rows:
        cells: list[str] = []
        for cell in row.cells:
            # Markdown knows no cell over two columns; the text is said twice instead
            cells += [_markdown_cell(cell, bold=row.tone == "ours")] * cell.span
        lines.append(cells)
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    notes = "".join(
        f"- {f'<sup>{mark}</sup> ' if mark else ''}{_escaped(note)}\n" for mark, note in table.notes
    )
    return f"## {_escaped(table.title)}\n\n{body}\n" + (f"\n{notes}" if notes else "")


def _markdown_cell(cell: Cell, *, bold: bool) -> str:
    text = _escaped(cell.text)
    text = f"**{text}**" if bold and cell.sources else text
    text += f"<sup>{cell.mark}</sup>" if cell.mark else ""
    return text + (f" ({_escaped(cell.detail)})" if cell.detail else "")


def _escaped(text: str) -> str:
    """`text` as Markdown that shows it as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|&#])", r"\\\1", " ".join(text.split()))


def latex(tables: Sequence[Table]) -> str:
    """A table environment each; no package is needed."""
    return "\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    lines = [r"\hline", _latex_line(map(_latex_text, table.headings)), r"\hline"]
    lines += [_latex_line(map(_latex_cell, row.cells)) for row in table.rows]
    lines = [rf"\begin{{tabular}}{{{table.alignment}}}", *lines, r"\hline", r"\end{tabular}"]
    for mark, note in table.notes:
        sign = rf"\textsuperscript{{{mark}}}" if mark else ""
        lines.append(rf"\par\smallskip\footnotesize {sign}{_latex_text(note)}")
    caption = rf"\caption{{{_latex_text(table.title)}}}"
    return "\n".join([r"\begin{table}", r"\centering", caption, *lines, r"\end{table}", ""])


def _latex_line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(cell: Cell) -> str:
    text = _latex_text(cell.text)
    text += rf"\textsuperscript{{{cell.mark}}}" if cell.mark else ""
    text += rf" {{\footnotesize({_latex_text(cell.detail)})}}" if cell.detail else ""
    return rf"\multicolumn{{{cell.span}}}{{c}}{{{text}}}" if cell.span > 1 else text


def _latex_text(text: str) -> str:
    plain = "".join(LATEX.get(character, character) for character in " ".join(text.split()))
    raised = str.maketrans(SUPERSCRIPTS, DIGITS)
    return re.sub(
        f"[{SUPERSCRIPTS}]+", lambda run: rf"\textsuperscript{{{run[0].translate(raised)}}}", plain
    )


def csv_text(records: Sequence[Mapping[str, str]]) -> str:
    """Records that share their keys, with a line of headings."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
