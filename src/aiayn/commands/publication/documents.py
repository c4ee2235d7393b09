"""The pages about findings, rendered from the published reproductions: the results in README.md,
docs/results.md, and the figure of the paper's claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import pandas as pd

from aiayn.commands.publication.claims_figure import THEMES, Claim, claims, draw
from aiayn.commands.publication.reproduction import interval, reproductions
from aiayn.commands.publication.reproduction_page import environment, write_page
from aiayn.config import Model
from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.paper.others import PUBLISHED
from aiayn.report import findings, table_1
from aiayn.report.evidence import gather
from aiayn.report.section import Section
from aiayn.report.summary import counted
from aiayn.report.tables import RowValues, Table, markdown, row, table, text
from aiayn.report.verdict import Verdict
from aiayn.results import paths
from aiayn.results.frames import over_seeds

README, RESULTS = Path("README.md"), Path("docs/results.md")
BEGIN, END = "<!-- rendered by make reproductions -->\n", "<!-- end -->\n"
CLAIMS = "multi30k_table3"  # the reproduction that tests the paper's claims


class Records:
    """The numbers in the templates.

    Args:
        folder: of all reproductions.
    Raises:
        ConfigError, DataError, ScoreError: on access, if a reproduction is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._published = {found.name: found for found in reproductions(folder)}

    @cached_property
    def sections(self) -> Mapping[str, Section]:
        """Table 1 and the findings in the report of CLAIMS."""
        evidence = gather(self.folder / CLAIMS)
        return {"table_1": table_1.section(evidence), "findings": findings.section(evidence)}

    @cached_property
    def claims(self) -> list[Claim]:
        """The claims that were tested."""
        found = self._published[CLAIMS]
        return claims(found.findings, found.config.variations)

    @property
    def names(self) -> list[str]:
        """The names of all reproductions."""
        return [*self._published]

    @property
    def base(self) -> Model:
        """The base model of CLAIMS."""
        config = self._published[CLAIMS].config
        return config.models[config.variations.base]

    @property
    def as_claimed(self) -> int:
        """The number of claims whose effect has the claimed direction."""
        return sum(claim.is_as_claimed for claim in self.claims)

    @property
    def verdicts(self) -> str:
        """The number of claims by verdict."""
        return counted(claim.verdict for claim in self.claims)

    def figures(self, key: str, verdict: str) -> int:
        """The number of printed figures of a section with this verdict."""
        return Counter(entry.verdict for entry in self.sections[key].entries)[Verdict(verdict)]

    def score(self, name: str, run: str, metric: str, split: str = paths.TEST) -> str:
        """A score with its 95 % interval over sentences, if it has one."""
        scores = _where(self._published[name].scores, run=run, metric=metric, split=split)
        if scores.empty:
            raise DataError(f"{self.folder / name}: no {metric} of {run} on {split}.")
        score = scores.iloc[0]
        bounds = interval(score)
        return f"{score['value']:.2f}" + (f" ({bounds})" if bounds else "")

    def mean(self, name: str, task: str, model: str, metric: str, split: str = paths.TEST) -> str:
        """The mean over a model's seeds, with their standard deviation and number."""
        means = over_seeds(self._published[name].scores)
        found = _where(means, task=task, model=model, metric=metric, split=split).iloc[0]
        return f"{found['mean']:.2f} ± {found['sd']:.2f} ({found['n']} seeds)"

    def compared(self, measure: str, model: str) -> str:
        """Mean and standard deviation over the seeds of a row of table 3."""
        rows = self._published[CLAIMS].comparisons
        found = _where(rows, model=model, measure=measure).iloc[0]
        return f"{found['mean']:.2f} ± {found['sd']:.2f}"

    def hours(self, name: str) -> str:
        """Total hours of all trainings."""
        return f"{self._published[name].runs['seconds'].sum() / 3600:.1f}"

    @staticmethod
    def published(target: str, metric: str) -> str:
        """The first score that others published for a target language, or for trees."""
        return next(
            figure.value.text
            for figure in PUBLISHED
            if (figure.target, figure.score) == (target, metric)
        )

    def table(self, key: str) -> str:
        """The first table of a section, with its notes."""
        return _without_heading(self.sections[key].tables[0])

    def compared_with_others(self, *names: str) -> str:
        """Scores of reproductions next to those that others published on the same sentences; for a
        model with several seeds, only the mean."""
        columns = text("System", "Published", "Ours", "Difference", "Run", "Reproduction")
        return _without_heading(table("", columns, self._compared_with_others(names)))

    def _compared_with_others(self, names: Iterable[str]) -> Iterator[RowValues]:
        for name in names:
            for found in findings.published(gather(self.folder / name)):
                run = found.headings.index("Run")
                runs = [line.cells[run].text for line in found.rows]
                means = {of.partition(", ")[0] for of in runs if ", " in of}
                for line, of in zip(found.rows, runs, strict=True):
                    if of and of.partition("-s")[0] not in means:
                        yield row(*line.cells, name, tone="ours")


def _where(rows: pd.DataFrame, **values: str) -> pd.DataFrame:
    """The rows with these values, by column."""
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


def _without_heading(shown: Table) -> str:
    return markdown((shown,)).partition("\n\n")[2].rstrip("\n")


def render(folder: Path) -> dict[Path, str]:
    """Every file by its path in the project; for README.md, the part between BEGIN and END."""
    records = Records(folder)
    templates = environment()
    pages = {
        README: templates.get_template("readme_results.md").render(records=records),
        RESULTS: templates.get_template("results.md").render(records=records),
    }
    return pages | {
        Path(f"docs/figures/claims-{theme}.svg"): draw(records.claims, theme) for theme in THEMES
    }


def write(project: Path) -> None:
    """Write all files, and README.md of each reproduction.

    Raises:
        ConfigError, DataError, ScoreError: a reproduction is damaged.
        DataError: README.md lacks the comments BEGIN or END.
    """
    before, begin, rest = (project / README).read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        lines = f"{BEGIN.strip()} and {END.strip()}"
        raise DataError(f"{project / README}: the lines {lines} are missing.")
    for found in reproductions(project / paths.REPRODUCTIONS):
        write_page(found.root)
    files = render(project / paths.REPRODUCTIONS)
    files[README] = f"{before}{begin}{files[README]}{end}{after}"
    for path, content in files.items():
        write_atomically(project / path, content)
