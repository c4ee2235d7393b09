"""Tables, written as Markdown and LaTeX here and as HTML by the page's template."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple, TypeVar

import pandas as pd

T = TypeVar("T")

EMPTY = "–"
MINUS = "−"
DIGITS, SUPERSCRIPTS = "0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"
RAISED = str.maketrans(DIGITS, SUPERSCRIPTS)

LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}",
    EMPTY: "--", MINUS: "$-$", "·": r"$\cdot$", "×": r"$\times$",
    "⌈": r"$\lceil$", "⌉": r"$\rceil$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$",
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The content of a cell.

    `detail` is a remark in smaller print, `mark` refers to a note, `span` counts the columns it
    takes. A cell of ours names in `sources` where each number of `text` and `detail`, in that
    order, is written, and in `run` whose it is. `tone` is a class of the page's style sheet.
    """

    text: str
    detail: str = ""
    mark: str = ""
    span: int = 1
    sources: tuple[str, ...] = ()
    run: str = ""
    tone: str = ""


NOTHING = Cell(EMPTY, tone="quiet")

Value = Cell | str | int | float | None
"""What a row may hold: a number is written as its column has it, None as a dash."""


@dataclass(frozen=True)
class TableColumn:
    """A column: left or right aligned; `form` is the format of its numbers, such as ".2f"; one that
    is `minor` is left out on a phone's screen."""

    heading: str
    side: Literal["l", "r"] = "l"
    form: str = ""
    minor: bool = False

    def cell(self, value: Value) -> Cell:
        """A value as the column shows it."""
        if isinstance(value, Cell):
            return value
        if isinstance(value, int | float):
            return Cell(format(value, self.form).replace("-", MINUS))
        return Cell(EMPTY if value is None else value)


def text(*headings: str, minor: bool = False) -> tuple[TableColumn, ...]:
    """Columns of words."""
    return tuple(TableColumn(heading, minor=minor) for heading in headings)


def numbers(*headings: str, form: str = ",", minor: bool = False) -> tuple[TableColumn, ...]:
    """Columns of numbers, right aligned."""
    return tuple(TableColumn(heading, "r", form, minor) for heading in headings)


class RowValues(NamedTuple):
    """Values from left to right, before they are laid out in columns; the rest as in Row."""

    values: tuple[Value, ...]
    tone: str = ""
    block: str = ""


def row(*values: Value, tone: str = "", block: str = "") -> RowValues:
    """A row of a table."""
    return RowValues(values, tone, block)


@dataclass(frozen=True)
class Row:
    """Cells from left to right; `tone` is a class of the page's style sheet. A rule separates rows
    of different blocks."""

    cells: tuple[Cell, ...]
    tone: str = ""
    block: str = ""


@dataclass(frozen=True)
class Table:
    """Made by `table`: rows are laid out in the columns; `notes` go by mark."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    notes: tuple[tuple[str, str], ...]
    key: str

    @property
    def headings(self) -> tuple[str, ...]:
        """Of the columns, from left to right."""
        return tuple(column.heading for column in self.columns)

    @property
    def frame(self) -> pd.DataFrame:
        """The cells' text, remarks in parentheses behind it; without marks and notes."""
        rows = [
            [
                f"{cell.text} ({cell.detail})" if cell.detail else cell.text
                for cell in row.cells
                for _ in range(cell.span)  # a text over several columns stands in each
            ]
            for row in self.rows
        ]
        return pd.DataFrame(rows, columns=list(self.headings), dtype="string")

    @property
    def blocks(self) -> Iterator[tuple[Row, ...]]:
        """Neighbouring rows of one block."""
        for _, rows in groupby(self.rows, key=attrgetter("block")):
            yield tuple(rows)

    def placed(self, row: Row) -> Iterator[tuple[Cell, str, bool]]:
        """Each cell of a row, its alignment (l, r, or c over several columns), and whether all of
        its columns are minor."""
        free = self.columns
        for cell in row.cells:
            taken, free = free[: cell.span], free[cell.span :]
            yield cell, "c" if cell.span > 1 else taken[0].side, all(c.minor for c in taken)


def table(
    title: str,
    columns: tuple[TableColumn, ...],
    rows: Iterable[RowValues],
    notes: Iterable[str | tuple[str, str]] = (),
    *,
    key: str = "",
) -> Table:
    """A table. The last value of a row that is too short spans the columns that are left.

    Args:
        notes: remarks, or a mark with its note.
        key: the table's anchor on the page.
    Raises:
        ValueError: a row has more values than there are columns.
    """
    return Table(
        title,
        columns,
        tuple(Row(_laid_out(row.values, columns), row.tone, row.block) for row in rows),
        tuple(("", note) if isinstance(note, str) else note for note in notes),
        key,
    )


def _laid_out(values: Iterable[Value], columns: Sequence[TableColumn]) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    free = list(columns)
    for value in values:
        if not free:
            raise ValueError(f"more values than columns: {cells}, {value}")
        cells.append(free[0].cell(value))
        free = free[cells[-1].span :]
    last = cells.pop()
    return (*cells, replace(last, span=last.span + len(free)))


def not_run(found: Mapping[str, object], reasons: Mapping[str, str]) -> Iterator[str]:
    """A note that names the runs without results, and why they have none where that is known; none
    where every run has some."""
    missing = [
        f"{run} ({reasons[run]})" if run in reasons else run
        for run, results in found.items()
        if not results
    ]
    if missing:
        yield f"Not run: {', '.join(missing)}."


def shortened(names: Sequence[str], most: int) -> str:
    """The names; of more than `most`, the first and how many more there are."""
    return f"{names[0]} and {len(names) - 1} more" if len(names) > most else ", ".join(names)


def p_value(p: float) -> str:
    """To four decimals; no p-value is zero."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def power_of_ten(printed: str) -> str:
    """1.0e20 as 1.0·10²⁰."""
    mantissa, _, exponent = printed.partition("e")
    return f"{mantissa}·10{exponent.translate(RAISED)}"


def signed(value: float) -> str:
    """With its sign, a true minus, and two decimals."""
    return f"{value:+.2f}".replace("-", MINUS)


def markdown(tables: Sequence[Table]) -> str:
    """The tables under headings, notes below each."""
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    rules = [{"l": ":--", "r": "--:"}[column.side] for column in table.columns]
    lines: list[Iterable[str]] = [table.headings, rules]
    for row in table.rows:
        cells: list[str] = []
        for cell in row.cells:
            # Markdown has no cell over several columns; the text is repeated instead
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
    sides = "".join(column.side for column in table.columns)
    lines = [rf"\begin{{tabular}}{{{sides}}}", *lines, r"\hline", r"\end{tabular}"]
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


def csv_text(frame: pd.DataFrame) -> str:
    """The frame with a line of headings; what is missing is left empty."""
    return frame.to_csv(index=False, lineterminator="\n")
