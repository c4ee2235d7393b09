"""All reproductions side by side: who made each, at which scale, and what came out.

`make reproductions` runs this file, which writes reproductions/README.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from aiayn.config import PARAMS, read_yaml
from aiayn.errors import one_line_errors
from aiayn.files import write_atomically
from aiayn.records import circumstances, comparison, places, scores
from aiayn.records.circumstances import TrainCircumstances
from aiayn.records.json_files import if_there
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table, markdown

HEADINGS = ("Reproduction", "Scale", "Machine", "torch", "Commit", "Runs", "Test sets", "Findings")
NOTE = (
    "A folder has params.yaml, dvc.lock and all records of a reproduction, weights aside: aiayn "
    "verify FOLDER holds another project against it. Test sets: each run's first score on its "
    "first test set, with its 95% interval over sentences. Findings: the paper's statements, "
    "tested. Rendered by make reproductions."
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
    read = circumstances.read_train
    trained = [read(file) for file in sorted((path / places.CIRCUMSTANCES).glob("*.train.json"))]
    yield path.name
    yield str(read_yaml((path / PARAMS).read_bytes()).get("scale", EMPTY))
    yield _distinct(held.device for held in trained)
    yield _distinct(held.versions.get("torch", EMPTY) for held in trained)
    yield _distinct(_short(held) for held in trained)
    yield str(len(trained))
    yield "; ".join(_tested(path)) or EMPTY
    compared = if_there(comparison.read, path / places.TABLE_3)
    told = Counter(finding.verdict for finding in compared.findings.values()) if compared else {}
    yield ", ".join(f"{count} {verdict}" for verdict, count in told.items()) or EMPTY


def _tested(path: Path) -> Iterator[str]:
    for file in sorted((path / places.SCORES).glob("*.json")):
        held = scores.read(file)
        if places.TEST in held.splits:
            name, score = next(iter(held.splits[places.TEST].scores.items()))
            low, high = score.low, score.high
            interval = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
            yield f"{held.run} {name} {score.value:.2f}{interval}"


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
