"""The text itself: what of each corpus was kept and what not, and what is held out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aiayn.report.evidence import Evidence
from aiayn.report.parts.section import Section
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table
from aiayn.results import places
from aiayn.results.places import SIDES
from aiayn.results.text import Manifest, Part

NAMED = 3  # tasks in a line
LEAD = (
    "Every corpus with its pairs, those that cleaning left, and what each rule dropped; the first "
    "rule that applies counts. Dev and test sets are never cleaned."
)


def section(evidence: Evidence) -> Section:
    """A line for each corpus that trains, and for each set that is held out."""
    manifests = evidence.manifests
    return Section(
        key="text",
        title="Text: what the models learn from",
        subtitle="Corpora, cleaning and held-out sets",
        lead=LEAD,
        tables=(_training(manifests), _held_out(manifests)) if manifests else (),
        records=[line for task, of in manifests.items() for line in _records(task, of)],
    )


def _training(manifests: Mapping[str, Manifest]) -> Table:
    tasks_of: dict[tuple[str, ...], list[str]] = {}
    for task, manifest in manifests.items():
        for corpus, part in manifest.splits[places.TRAIN].corpora.items():
            line = (
                corpus,
                f"{part.pairs:,}",
                EMPTY if part.kept is None else f"{part.kept:,}",
                ", ".join(_dropped(part, manifest.cleaning)) or EMPTY,
            )
            tasks_of.setdefault(line, []).append(task)
    rows = [Row((Cell(_named(tasks)), *map(Cell, line))) for line, tasks in tasks_of.items()]
    return Table(
        "Training text, in pairs",
        ("Task", "Corpus", "Pairs", "Kept", "Dropped"),
        "llrrl",
        tuple(rows),
        (("", "A word is what stands between white space; words are counted before BPE."),),
        key="training-text",
    )


def _named(tasks: Sequence[str]) -> str:
    """Tasks that read the same; of many, as folds are, the first and how many. The CSV has all."""
    more = len(tasks) - 1
    return f"{tasks[0]} and {more} more" if more >= NAMED else ", ".join(tasks)


def _dropped(part: Part, rules: Mapping[str, Any]) -> Iterator[str]:
    said = {
        "too_long": "lines that never end",
        "invalid_utf8": "not UTF-8",
        "empty": "a side empty",
        "max_words": f"over {rules.get('max_words')} words",
        "max_ratio": f"sides over {rules.get('max_ratio')} : 1",
        "identical": "both sides equal",
        "duplicates": "there before",
    }
    for rule, pairs in (part.dropped or {}).items():
        if pairs:
            yield f"{said[rule]} {pairs:,} ({pairs / part.pairs:.2%})"


def _held_out(manifests: Mapping[str, Manifest]) -> Table:
    rows = []
    for task, manifest in manifests.items():
        for name, split in manifest.splits.items():
            if name == places.TRAIN:
                continue
            again = split.overlap or {}
            rows.append(
                Row(
                    (
                        Cell(task),
                        Cell(name),
                        Cell(", ".join(split.corpora)),
                        Cell(f"{split.pairs:,}"),
                        *(Cell(f"{split.words[side]:,}") for side in SIDES),
                        *(
                            Cell(f"{again[key]:,}" if key in again else EMPTY)
                            for key in (*SIDES, "pairs")
                        ),
                    )
                )
            )
    return Table(
        "Held out, and how much of it also stands in the training text",
        (
            "Task", "Set", "Corpus", "Pairs", "Source words", "Target words",
            "Sources seen", "Targets seen", "Pairs seen",
        ),
        "lllrrrrrr",
        tuple(rows),
        key="held-out-text",
    )  # fmt: skip


def _records(task: str, manifest: Manifest) -> Iterator[dict[str, str]]:
    """A line for each rule that worked on a corpus, and one for each corpus without rules."""
    for split, held in manifest.splits.items():
        for corpus, part in held.corpora.items():
            for rule, dropped in (part.dropped or {"": 0}).items():
                yield {
                    "task": task,
                    "split": split,
                    "corpus": corpus,
                    "pairs": str(part.pairs),
                    "kept": str(part.pairs if part.kept is None else part.kept),
                    "rule": rule,
                    "dropped": str(dropped),
                }
