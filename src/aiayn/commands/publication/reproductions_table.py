"""The table of all reproductions, and what each finds about the paper's statements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from aiayn.commands.publication.reproduction import Reproduction, interval
from aiayn.config import PARAMS
from aiayn.files import write_atomically
from aiayn.paper.findings import STATEMENTS, Statement
from aiayn.report.findings.statements import NOT_TESTED, claim_text, effect_text
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table, markdown
from aiayn.results import places

SHOWN = 8  # scores of a reproduction
NOTE = (
    "A folder has the parameters, dvc.lock and all results of a reproduction without its weights: "
    "aiayn verify FOLDER compares another project with it. Test sets: the first score of each run "
    "on its first test set, with its 95% interval over sentences; the folder's README.md has all. "
    "Findings: verdicts on the paper's statements. Rendered by make reproductions."
)
STATEMENTS_NOTE = (
    "The effect on dev, a difference of BLEU or a ratio of perplexities, and whether the statement "
    "holds there. Each reproduction corrects its p-values for its own tests and interim looks; "
    "models, texts and numbers of seeds differ, so effects are not comparable across columns. "
    "Empty: a model that the statement compares was not trained. No effect: too few runs to test. "
    "A reproduction without a column tested nothing."
)


def write_table(folder: Path) -> None:
    """Write README.md of the folder of all reproductions.

    Raises:
        ConfigError, DataError, ScoreError: a reproduction is damaged.
    """
    found = [Reproduction(path.parent) for path in sorted(folder.glob(f"*/{PARAMS}"))]
    write_atomically(folder / "README.md", render(found))


def render(reproductions: Sequence[Reproduction]) -> str:
    """Both tables as Markdown."""
    return markdown((overview(reproductions), statements(reproductions)))


def overview(reproductions: Sequence[Reproduction]) -> Table:
    """A row for each reproduction."""
    rows = [
        {
            "Reproduction": found.name,
            "Scale": found.config.scale,
            "Machine": ", ".join(found.distinct(lambda training: training.device)),
            "torch": ", ".join(found.distinct(lambda training: training.versions.get("torch"))),
            "Commit": ", ".join(found.distinct(lambda training: _short(training.commit))),
            "Runs": str(len(found.trainings)),
            "Test sets": _scores(found),
            "Findings": found.verdicts,
        }
        for found in reproductions
    ]
    return _table("Reproductions", pd.DataFrame(rows).replace("", EMPTY), NOTE)


def statements(reproductions: Sequence[Reproduction]) -> Table:
    """A row for each of the paper's statements, a column for each reproduction that tests any."""
    columns: dict[str, list[str]] = {
        "Statement": [statement.text for statement in STATEMENTS.values()],
        "Claimed": [claim_text(statement) for statement in STATEMENTS.values()],
    }
    for found in reproductions:
        findings = found.results.findings
        tested = findings[findings["verdict"] != NOT_TESTED.verdict]
        by_key = {row["finding"]: row for _, row in tested.iterrows()}
        if by_key:
            columns[found.name] = [
                _finding(statement, by_key[key]) if key in by_key else ""
                for key, statement in STATEMENTS.items()
            ]
    return _table("Verdicts on the paper's statements", pd.DataFrame(columns), STATEMENTS_NOTE)


def _table(title: str, frame: pd.DataFrame, note: str) -> Table:
    rows = tuple(Row(tuple(map(Cell, texts))) for texts in frame.itertuples(index=False))
    return Table(title, tuple(frame.columns), "l" * frame.shape[1], rows, (("", note),))


def _scores(found: Reproduction) -> str:
    """On the first test sets: the first SHOWN scores, and the number of the others."""
    scores = found.test_scores
    texts = [
        f"{score['run']} {score['metric']} {score['value']:.2f}"
        + (f" ({interval(score)})" if interval(score) else "")
        for _, score in scores[scores["split"] == places.TEST].iterrows()
    ]
    more = [f"and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return "; ".join(texts[:SHOWN] + more)


def _finding(statement: Statement, finding: pd.Series) -> str:
    if pd.isna(finding["effect"]):
        return str(finding["verdict"])
    return f"{effect_text(statement, finding['effect'])}, {finding['verdict']}"


def _short(commit: str) -> str:
    digest, _, dirty = commit.partition("-")
    return digest[:8] + ("-dirty" if dirty else "")
