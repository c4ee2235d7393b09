"""All reproductions side by side: who made each, at which scale, and what came out.

`make reproductions` runs this file, which writes reproductions/README.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from aiayn.config import PARAMS, read_yaml
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.publication.folder import results, trainings, verdicts
from aiayn.records import places
from aiayn.records.circumstances import TrainCircumstances
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table, markdown

HEADINGS = ("Reproduction", "Scale", "Machine", "torch", "Commit", "Runs", "Test sets", "Findings")
SHOWN = 8  # results of a reproduction
NOTE = (
    "A folder has params.yaml, dvc.lock and all records of a reproduction, weights aside: aiayn "
    "verify FOLDER holds another project against it. Test sets: each run's first score on its "
    "first test set, with its 95% interval over sentences; the folder's README.md has all. "
    "Findings: the paper's statements, tested. Rendered by make reproductions."
)


def table(folder: Path) -> Table:
    """A row for each reproduction, by name.

    Raises:
        ConfigError, DataError, ScoreError: one holds what is no record, or no parameters.
    """
    found = sorted(path.parent for path in folder.glob(f"*/{PARAMS}"))
    rows = tuple(Row(tuple(Cell(text) for text in _texts(path))) for path in found)
    return Table("Reproductions", HEADINGS, "l" * len(HEADINGS), rows, (("", NOTE),))


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
    """Write the table of the project in the working directory."""
    folder = places.REPRODUCTIONS
    write_atomically(folder / "README.md", markdown((table(folder),)))


if __name__ == "__main__":
    main()
