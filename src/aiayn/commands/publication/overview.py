"""All reproductions side by side: who made each, at which scale, what came out; and what each says
of the paper's statements.

`make reproductions` runs this file, which writes reproductions/README.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from aiayn.commands.publication.folder import findings, results, trainings, verdicts
from aiayn.config import PARAMS, read_yaml
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.paper.findings import STATEMENTS
from aiayn.report.findings.statements import claim_text, effect_text
from aiayn.report.parts.tables import EMPTY, Table, markdown, row, text
from aiayn.report.parts.tables import table as make_table
from aiayn.results import places
from aiayn.results.circumstances import TrainCircumstances

HEADINGS = ("Reproduction", "Scale", "Machine", "torch", "Commit", "Runs", "Test sets", "Findings")
SHOWN = 8  # results of a reproduction
NOTE = (
    "A folder has params.yaml, dvc.lock and all records of a reproduction, weights aside: aiayn "
    "verify FOLDER compares another project with it. Test sets: each run's first score on its "
    "first test set, with its 95% interval over sentences; the folder's README.md has all. "
    "Findings: the paper's statements, tested. Rendered by make reproductions."
)
STATEMENTS_NOTE = (
    "The effect on dev, a difference of BLEU or a ratio of perplexities, and whether the claim "
    "holds there. Each reproduction corrects its p-values for its own tests and interim looks "
    "only; models, texts and numbers of seeds differ, so effects do not compare across columns. "
    "Empty: a model that the claim compares is missing. No effect: too few runs to test. No "
    "column: nothing to test."
)


def table(folder: Path) -> Table:
    """A row for each reproduction, by name.

    Raises:
        ConfigError, DataError, ScoreError: one holds what is no record, or no parameters.
    """
    rows = (row(*_texts(path)) for path in _folders(folder))
    return make_table("Reproductions", text(*HEADINGS), rows, (NOTE,))


def statements(folder: Path) -> Table:
    """A row for each of the paper's statements, a column for each reproduction that tests any.

    Raises:
        ScoreError: a comparison is damaged.
    """
    held = {path.name: findings(path) for path in _folders(folder)}
    tested = {name: by_key for name, by_key in held.items() if by_key}
    rows = []
    for key, statement in STATEMENTS.items():
        cells = [statement.text, claim_text(statement)]
        for by_key in tested.values():
            finding = by_key.get(key)
            effect = finding.effect if finding else None
            texts = [effect_text(statement, effect.value)] if effect else []
            cells.append(", ".join([*texts, finding.verdict]) if finding else "")
        rows.append(row(*cells))
    title = "Which of the paper's claims hold for small models"
    return make_table(title, text("Claim", "Paper", *tested), rows, (STATEMENTS_NOTE,))


def _folders(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"*/{PARAMS}"))


def _texts(path: Path) -> Iterator[str]:
    trained = trainings(path)
    yield path.name
    yield str(read_yaml((path / PARAMS).read_bytes()).get("scale", EMPTY))
    yield _distinct(held.device for held in trained)
    yield _distinct(held.versions.get("torch", EMPTY) for held in trained)
    yield _distinct(_short(held) for held in trained)
    yield str(len(trained))
    yield _tested(path)
    yield verdicts(path) or EMPTY


def _tested(path: Path) -> str:
    """Results on the first test sets; of many, as folds have them, the first and their number."""
    found = [
        f"{one.run} {one.measure} {one.value}" + (f" ({one.interval})" if one.interval else "")
        for one in results(path)
        if one.split == places.TEST
    ]
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return "; ".join(found[:SHOWN] + more) or EMPTY


def _short(held: TrainCircumstances) -> str:
    commit, _, dirty = held.commit.partition("-")
    return commit[:8] + ("-dirty" if dirty else "")


def _distinct(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts)) or EMPTY


@one_line_errors
def main() -> None:
    """Write both tables of the project in the working directory."""
    folder = places.REPRODUCTIONS
    write_atomically(folder / "README.md", markdown((table(folder), statements(folder))))


if __name__ == "__main__":
    main()
