"""The results of a scale as a notebook uses them: DataFrames, the paper's tables, and figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import pandas as pd

from aiayn.report.evidence import Evidence, gather
from aiayn.report.page import make_section
from aiayn.report.section import Figure
from aiayn.results.frames import Results


class ScaleResults(Results):
    """`Results`, and what the report makes of them. Arguments and errors as there."""

    def table(self, number: int) -> pd.DataFrame:
        """A table of the paper, 1 to 4: its rows as printed, and those of this scale.

        Cells are text, as the report shows them: a dash where there is nothing, in parentheses a
        score's 95 % interval. Numbers to compute with are in `scores`, `comparisons` and `layers`.

        Raises:
            ConfigError: the paper has no such table.
        """
        return make_section(f"table_{number}", self._evidence).tables[0].frame

    def figures(self, section: str = "training") -> Mapping[str, Figure]:
        """The figures of a section of the report, by name: training curves of each task, or those
        of table_1, table_3, table_4 and model.

        A notebook shows a figure as a picture; `.svg` is the picture, `.data` the numbers in it.

        Raises:
            ConfigError: the report has no such section.
        """
        return {figure.name: figure for figure in make_section(section, self._evidence).figures}

    @cached_property
    def _evidence(self) -> Evidence:
        return gather(self.root)
