"""Where each number of ours comes from: the run, its model, its sentences, and how to redo it."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import quote

from aiayn.config import Run
from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.table_2 import bleu_entries
from aiayn.report.tables import Cell
from aiayn.results import paths
from aiayn.results.scores import SplitScores
from aiayn.results.text import Manifest


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """One run as the page accounts for it.

    `model` and `recipe` are parameters by name; `departures` say why table 2 does not judge the
    run, if it has a cell there at all; `outdated` as in Evidence,
    `failure` the reason in its `unfinished`.
    """

    name: str
    run: Run
    model: Mapping[str, object]
    recipe: Mapping[str, object]
    training_corpora: tuple[str, ...]
    manifest: Manifest | None
    splits: Mapping[str, SplitScores]
    departures: tuple[str, ...]
    outdated: Sequence[str]
    failure: str


class Measurement(NamedTuple):
    """A file of numbers that belong to no run: what a stage profile_NAME counted or measured."""

    file: str
    sha256: str
    stage: str


def provenance(evidence: Evidence) -> Iterator[Provenance]:
    """Of every run, in the order of params.yaml; a run without scores has no splits."""
    config = evidence.config
    departures = {run: entry.reasons for run, entry in bleu_entries(evidence).items()}
    for name, splits in evidence.scores.items():
        run, task = config.run(name), config.task_of(name)
        search = task.decoding
        yield Provenance(
            name=name,
            run=run,
            model=config.model_of(name).columns,
            recipe={
                "batch_tokens": config.training.batch_tokens,
                "warmup_steps": config.training.warmup_steps,
                "BPE pieces": task.bpe.vocabulary,
                **({"beam": search.beam, "alpha": search.alpha} if search else {}),
            },
            training_corpora=task.text.train,
            manifest=evidence.manifests.get(run.task),
            splits=splits or {},
            departures=departures.get(name, ()),
            outdated=evidence.outdated.get(name, ()),
            failure=evidence.unfinished.get(name, ""),
        )


def measurements(
    root: Path, sections: Iterable[Section], runs: Container[str]
) -> Iterator[Measurement]:
    """The files in profiles/ that cells of no run name as their sources."""
    for name in sorted({_file(c.sources[0]) for c in _cells(sections) if c.run not in runs}):
        path = root / paths.PROFILES / name
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "not there"
        yield Measurement(name, digest, f"profile_{path.stem}")


def link(cell: Cell, runs: Container[str]) -> str:
    """To the place on the page that accounts for a cell of ours: of its run, or of its file."""
    name = f"run-{cell.run}" if cell.run in runs else f"file-{_file(cell.sources[0])}"
    return f"#{quote(name)}"


def _cells(sections: Iterable[Section]) -> Iterator[Cell]:
    """Those of ours."""
    for section in sections:
        rows = (row for table in section.tables for row in table.rows)
        cells = (*(cell for row in rows for cell in row.cells), *(f.ours for f in section.entries))
        yield from (cell for cell in cells if cell and cell.sources)


def _file(source: str) -> str:
    return PurePosixPath(source.partition(":")[0]).name
