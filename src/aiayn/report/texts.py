"""Corpora, what cleaning kept and dropped of them, and the held-out sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from aiayn.report.evidence import Evidence
from aiayn.report.section import Section
from aiayn.report.tables import RowValues, Table, numbers, row, shortened, table, text
from aiayn.results import paths
from aiayn.results.paths import SIDES
from aiayn.results.text import Manifest, Part

NAMED = 3  # tasks that read the same; of more, as folds are, the first: the CSV has all
LEAD = (
    "Every corpus with its pairs, those that cleaning left, and what each rule dropped; the first "
    "rule that applies counts. Dev and test sets are never cleaned."
)


def section(evidence: Evidence) -> Section:
    """A row for each corpus that trains, and for each set that is held out."""
    manifests = evidence.manifests
    return Section(
        key="text",
        title="Data",
        subtitle="Corpora, cleaning and held-out sets",
        lead=LEAD,
        tables=(_training(manifests), _held_out(manifests)) if manifests else (),
        records=pd.DataFrame(_records(manifests)),
    )


def _training(manifests: Mapping[str, Manifest]) -> Table:
    tasks_of: dict[tuple[Any, ...], list[str]] = {}
    for task, manifest in manifests.items():
        for corpus, part in manifest.splits[paths.TRAIN].corpora.items():
            dropped = ", ".join(_dropped(part, manifest.cleaning)) or None
            tasks_of.setdefault((corpus, part.pairs, part.kept, dropped), []).append(task)
    return table(
        "Training text, in pairs",
        text("Task", "Corpus") + numbers("Pairs", "Kept") + text("Dropped"),
        (row(shortened(tasks, NAMED), *values) for values, tasks in tasks_of.items()),
        ("Words are separated by white space and counted before BPE.",),
        key="training-text",
    )


def _dropped(part: Part, rules: Mapping[str, Any]) -> Iterator[str]:
    descriptions = {
        "too_long": "overlong lines",
        "invalid_utf8": "not UTF-8",
        "empty": "one side empty",
        "max_words": f"over {rules.get('max_words')} words",
        "max_ratio": f"sides over {rules.get('max_ratio')} : 1",
        "identical": "both sides equal",
        "held_out": "a side in a held-out set",
        "duplicates": "duplicates",
    }
    for rule, pairs in (part.dropped or {}).items():
        if pairs:
            yield f"{descriptions[rule]} {pairs:,} ({pairs / part.pairs:.2%})"


def _held_out(manifests: Mapping[str, Manifest]) -> Table:
    def rows() -> Iterator[RowValues]:
        for task, manifest in manifests.items():
            for name, split in manifest.splits.items():
                if name != paths.TRAIN:
                    words = (split.words[side] for side in SIDES)
                    seen = ((split.overlap or {}).get(key) for key in (*SIDES, "pairs"))
                    yield row(task, name, ", ".join(split.corpora), split.pairs, *words, *seen)

    return table(
        "Held-out sets, and their overlap with the training text",
        text("Task", "Set", "Corpus")
        + numbers("Pairs", "Source words", "Target words")
        + numbers("Sources seen", "Targets seen", "Pairs seen"),
        rows(),
        key="held-out-text",
    )


def _records(manifests: Mapping[str, Manifest]) -> Iterator[dict[str, object]]:
    """A line for each rule that was applied to a corpus, and one for each corpus without rules."""
    for task, manifest in manifests.items():
        for split, of_split in manifest.splits.items():
            for corpus, part in of_split.corpora.items():
                for rule, dropped in (part.dropped or {"": 0}).items():
                    yield {
                        "task": task,
                        "split": split,
                        "corpus": corpus,
                        "pairs": part.pairs,
                        "kept": part.pairs if part.kept is None else part.kept,
                        "rule": rule,
                        "dropped": dropped,
                    }
