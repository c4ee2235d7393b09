"""The pages about findings, rendered from the published reproductions: the results in README.md,
docs/results.md, and the figures of the paper's claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from aiayn.commands.publication import explanations
from aiayn.commands.publication.reproduction import Reproduction, interval, reproductions
from aiayn.commands.publication.reproduction_page import environment, write_page
from aiayn.commands.publication.reproductions_table import statements
from aiayn.config import Model
from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.paper.findings import STATEMENTS
from aiayn.paper.others import PUBLISHED
from aiayn.report import claims_figure, findings, table_1
from aiayn.report.claims_figure import Claim
from aiayn.report.drawing import INK, PAPER
from aiayn.report.evidence import Evidence, gather
from aiayn.report.summary import counted
from aiayn.report.tables import RowValues, Table, markdown, row, table, text
from aiayn.report.verdict import Verdict
from aiayn.results import paths
from aiayn.results.frames import over_seeds

README, RESULTS = Path("README.md"), Path("docs/results.md")
BEGIN, END = "<!-- rendered by make reproductions -->\n", "<!-- end -->\n"
# the reproductions that test the paper's claims: as preregistered, and before that
DECLARED, EXPLORATORY = ("tatoeba", "multi30k_declared"), "multi30k_table3"
EXTENSIONS = "tatoeba_extensions"
THEMES = {"light": ("#1f2328", "#ffffff"), "dark": ("#d1d7e0", "#0d1117")}  # ink and paper


class ClaimTests:
    """A reproduction's tests of the paper's claims.

    Args:
        found: with a comparison.
    Raises:
        ConfigError, DataError, ScoreError: on access, if the reproduction is damaged.
    """

    def __init__(self, found: Reproduction) -> None:
        self._found = found
        self._variations = found.config.variations

    @cached_property
    def evidence(self) -> Evidence:
        """All results."""
        return gather(self._found.root)

    @cached_property
    def claims(self) -> list[Claim]:
        """The claims that were tested."""
        return claims_figure.claims(self.evidence)

    @property
    def base(self) -> Model:
        """The base model."""
        return self._found.config.models[self._variations.base]

    @property
    def pairs(self) -> str:
        """The number of sentence pairs trained on."""
        return f"{self.evidence.manifests[self._variations.task].splits[paths.TRAIN].pairs:,}"

    @property
    def parameters(self) -> str:
        """The number of the base's parameters, in millions."""
        row = _where(self._found.models, model=self._variations.base).iloc[0]
        return f"{row['parameters'] / 1e6:.1f} million"

    @property
    def epochs(self) -> str:
        """How often a training of the base sees its text."""
        runs = _where(self._found.runs, model=self._variations.base)["run"]
        histories = self._found.histories
        return f"{histories[histories['run'].isin(runs)]['epoch'].max():.1f}"

    @property
    def seeds(self) -> int:
        """The number of the base's seeds."""
        return int(self._compared(self._variations.base, "bleu")["n"])

    @property
    def as_claimed(self) -> int:
        """The number of claims whose effect has the claimed direction."""
        return sum(claim.is_as_claimed for claim in self.claims)

    @property
    def verdicts(self) -> str:
        """The number of claims by verdict."""
        return counted(claim.verdict for claim in self.claims)

    @property
    def hours(self) -> str:
        """Total hours of all trainings."""
        return f"{self._found.runs['seconds'].sum() / 3600:.1f}"

    @cached_property
    def table(self) -> Table:
        """The claims, each with its effect and verdict, and the notes."""
        return findings.section(self.evidence).tables[0]

    def figure(self, theme: str) -> str:
        """The claims as a forest plot: SVG in the colours of one of THEMES."""
        ink, paper = THEMES[theme]
        return claims_figure.draw(self.claims).replace(INK, ink).replace(PAPER, paper)

    def compared(self, measure: str) -> str:
        """Mean and standard deviation over the base's seeds."""
        found = self._compared(self._variations.base, measure)
        return f"{found['mean']:.2f} ± {found['sd']:.2f}"

    def _compared(self, model: str, measure: str) -> pd.Series:
        return _where(self._found.comparisons, model=model, measure=measure).iloc[0]


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
        names = (*DECLARED, EXPLORATORY)
        self.tests = {name: ClaimTests(self._published[name]) for name in names}

    @property
    def names(self) -> list[str]:
        """The names of all reproductions."""
        return [*self._published]

    def claims(self, name: str) -> str:
        """The claims as one of these tests decides them, and the notes that the first table does
        not have."""
        first, shown = (self.tests[each].table for each in (DECLARED[0], name))
        notes = () if shown is first else first.notes
        return _without_heading(
            replace(shown, notes=tuple(note for note in shown.notes if note not in notes))
        )

    @property
    def side_by_side(self) -> str:
        """Each claim with its effects and verdicts in all these tests, and the notes."""
        return _without_heading(statements([self._published[name] for name in self.tests]))

    @property
    def contradictions(self) -> list[str]:
        """The claims that hold on one of the declared texts and do not hold on the other."""
        return contradictions(*(self._published[name].findings for name in DECLARED))

    @property
    def explanations(self) -> str:
        """What no table of the paper shows: each change with its effects, and the note.

        Raises:
            DataError: the reproduction was published before its models were compared.
        """
        root = self._published[EXTENSIONS].root
        compared = gather(root).variations
        if compared is None:
            raise DataError(f"{root} has no comparison.")
        return _without_heading(explanations.effects(compared))

    def extension(self, model: str, measure: str) -> str:
        """A mean over the seeds of a model that no table of the paper has."""
        compared = self._published[EXTENSIONS].comparisons
        return f"{_where(compared, model=model, measure=measure).iloc[0]['mean']:.1f}"

    def layer_types(self, verdict: str) -> int:
        """The number of table 1's printed figures with this verdict."""
        entries = table_1.section(self.tests[DECLARED[0]].evidence).entries
        return Counter(entry.verdict for entry in entries)[Verdict(verdict)]

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


def contradictions(one: pd.DataFrame, other: pd.DataFrame) -> list[str]:
    """Of two reproductions' findings: what is claimed where one holds and the other does not."""
    decided = {"holds at this scale", "does not hold at this scale"}
    first, second = (
        dict(zip(each["finding"], each["verdict"], strict=True)) for each in (one, other)
    )
    return [STATEMENTS[key].text for key in first if {first[key], second.get(key)} == decided]


def render(folder: Path) -> dict[Path, str]:
    """Every file by its path in the project; for README.md, the part between BEGIN and END."""
    records = Records(folder)
    templates = environment()
    pages = {
        README: templates.get_template("readme_results.md").render(records=records),
        RESULTS: templates.get_template("results.md").render(records=records),
    }
    figures = {
        Path(f"docs/figures/claims-{name}-{theme}.svg"): records.tests[name].figure(theme)
        for name in DECLARED
        for theme in THEMES
    }
    return pages | figures


def write(project: Path) -> None:
    """Write all files, and README.md of each reproduction.

    Raises:
        ConfigError, DataError, ScoreError: a reproduction is damaged.
        DataError: README.md is missing, or lacks the comments BEGIN or END.
    """
    if not (project / README).exists():
        raise DataError(f"{project / README}: there is no such file. Go to the project's folder.")
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
