"""The table of all reproductions, and the table of their findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from aiayn.commands.publication.reproduction import Reproduction, interval, reproductions
from aiayn.files import write_atomically
from aiayn.paper import findings
from aiayn.paper.findings import STATEMENTS, Statement
from aiayn.report.findings import NOT_TESTED, claim_text, effect_text
from aiayn.report.tables import EMPTY, Table, markdown, row, table, text
from aiayn.results import paths
from aiayn.results.machine_metadata import DIRTY

SHOWN = 8  # scores per reproduction
NOTE = (
    "A folder has the parameters, dvc.lock and all results of a reproduction without its weights: "
    "aiayn verify FOLDER compares another project with it. Test sets: the first score of each run "
    "on its first test set, with its 95% interval over sentences; the folder's README.md has all. "
    "Findings: verdicts on the paper's claims. Rendered by make reproductions."
)
STATEMENTS_NOTE = (
    "The effect, a difference of BLEU or a ratio (×) of perplexities, and whether the claim holds "
    "there. A preregistered scale may test a claim on the other measure, and on more sentences "
    "than dev. Each reproduction corrects its p-values for its own tests and interim looks; "
    "models, texts and numbers of seeds differ, so effects are not comparable across columns. "
    "Empty: a model that the claim compares was not trained. No effect: too few runs to test. "
    "A reproduction without a column tested nothing."
)


def write_table(folder: Path) -> None:
    """Write README.md of the folder of all reproductions.

    Raises:
        ConfigError, DataError, ScoreError: a reproduction is damaged.
    """
    write_atomically(folder / "README.md", render(reproductions(folder)))


def render(found: Sequence[Reproduction]) -> str:
    """Both tables as Markdown."""
    tables = markdown((overview(found), statements(found)))
    return f"# Published reproductions\n\n{tables}"


def overview(published: Sequence[Reproduction]) -> Table:
    """A row for each reproduction."""
    headings = (
        "Reproduction", "Scale", "Machine", "torch", "Commit", "Runs", "Test sets", "Findings",
    )  # fmt: skip
    rows = (
        row(
            found.name,
            found.config.scale,
            ", ".join(found.distinct(lambda training: training.device)) or EMPTY,
            ", ".join(found.distinct(lambda training: training.versions.get("torch"))) or EMPTY,
            ", ".join(found.distinct(lambda training: _short(training.commit))) or EMPTY,
            str(len(found.trainings)),
            _scores(found) or EMPTY,
            found.verdicts or EMPTY,
        )
        for found in published
    )
    return table("Reproductions", text(*headings), rows, [NOTE])


def statements(published: Sequence[Reproduction]) -> Table:
    """A row for each of the paper's statements, a column for each reproduction that tests any."""
    tested: dict[str, dict[str, str]] = {}
    for found in published:
        claims = findings.statements(found.config.variations.measures)
        rows = found.findings[found.findings["verdict"] != NOT_TESTED.verdict].to_dict("records")
        if texts := {row["finding"]: _finding(claims[row["finding"]], row) for row in rows}:
            tested[found.name] = texts
    return table(
        "Which of the paper's claims hold for small models",
        text("Claim", "Paper", *tested),
        (
            row(
                statement.text,
                claim_text(statement),
                *(texts.get(key, "") for texts in tested.values()),
            )
            for key, statement in STATEMENTS.items()
        ),
        [STATEMENTS_NOTE],
    )


def _scores(found: Reproduction) -> str:
    """The first SHOWN scores on the first test sets, and the number of the others."""
    scores = found.test_scores
    shown = [
        f"{score['run']} {score['metric']} {score['value']:.2f}"
        + (f" ({interval(score)})" if interval(score) else "")
        for _, score in scores[scores["split"] == paths.TEST].iterrows()
    ]
    more = [f"and {len(shown) - SHOWN} more"] if len(shown) > SHOWN else []
    return "; ".join(shown[:SHOWN] + more)


def _finding(statement: Statement, finding: Mapping[Any, Any]) -> str:
    if pd.isna(finding["effect"]):
        return str(finding["verdict"])
    return f"{effect_text(statement.measure, finding['effect'])}, {finding['verdict']}"


def _short(commit: str) -> str:
    digest, dirty, _ = commit.partition(DIRTY)
    return digest[:8] + dirty
