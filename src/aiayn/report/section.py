"""A part of the report: a table of the paper with ours beside it, its verdicts and its figures."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from aiayn.report.tables import Table
from aiayn.report.verdict import Entry


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure:
    """A picture and the numbers in it.

    `name` is the stem of its files figures/NAME.svg and figures/NAME.csv; `title` a few words;
    `caption` says what is seen and of which runs or code; `data` is the CSV.
    """

    name: str
    title: str
    caption: str
    svg: str = field(repr=False)
    data: pd.DataFrame = field(repr=False)

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.svg


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """`key` names the files tables/KEY.md, .tex and .csv, like table_2, and the page's anchor.

    `records` are the lines of the CSV: one number a line.
    """

    key: str
    title: str
    subtitle: str
    lead: str
    tables: tuple[Table, ...] = ()
    records: pd.DataFrame = field(default_factory=pd.DataFrame)
    entries: tuple[Entry, ...] = ()
    figures: tuple[Figure, ...] = ()
