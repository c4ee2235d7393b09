"""Recomputing every test of a comparison from its records, and comparing it with the published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from aiayn import config
from aiayn.commands.verification.figures import NoReproductionError
from aiayn.evaluation.variations import compare_variations
from aiayn.paper.findings import Statement, statements
from aiayn.report import tables
from aiayn.results import comparison, paths, sentence_counts
from aiayn.results.comparison import Comparison, Finding
from aiayn.results.json_files import leaves, plain

TOLERANCE = 1e-6
SHOWN = 5  # differences


class Rederived(NamedTuple):
    """The published comparison, the recomputed one, and their differences: key and both values."""

    published: Comparison
    derived: Comparison
    claims: Mapping[str, Statement]
    p_values: int
    differences: tuple[str, ...]

    @property
    def status(self) -> int:
        """The exit status of the process."""
        return int(bool(self.differences))


def rederive(folder: Path) -> Rederived:
    """Recompute comparisons/table_3.json from the sentence counts and the histories.

    Args:
        folder: of a reproduction, or of a scale that has been run.
    Raises:
        AiaynError: a file is missing or damaged.
    """
    if not (folder / config.PARAMS).is_file():
        raise NoReproductionError(folder)
    parameters = config.load(folder / config.PARAMS)
    published = comparison.read(folder / paths.TABLE_3)
    counts = sentence_counts.read(folder / paths.SENTENCE_COUNTS)
    # further metrics are scored from hypotheses and text: here, their tests alone are recomputed
    seeds = (seed for model in published.models.values() for seed in model.seeds.values())
    further = {seed.run: seed.further for seed in seeds}
    derived = compare_variations(parameters.variations, parameters.runs, counts, further, folder)
    ours, theirs = (dict(leaves(plain(one))) for one in (derived, published))
    return Rederived(
        published,
        derived,
        statements(parameters.variations.measures),
        p_values=sum(key.endswith((".p_value", ".corrected")) for key in theirs),
        differences=tuple(_differences(theirs, ours)),
    )


def to_lines(found: Rederived) -> Iterator[str]:
    """A line for each tested statement, and whether all values equal the published ones."""
    for key, finding in found.derived.findings.items():
        if finding.verdict != "not run at this scale":
            yield f"{found.claims[key].text}: {_result(finding)}"
    if found.differences:
        count, path = len(found.differences), paths.TABLE_3
        yield f"{count} values differ from {path}: {'; '.join(found.differences[:SHOWN])}"
    else:
        yield f"{found.p_values} p-values, all equal to {paths.TABLE_3} (to {TOLERANCE:g})."


def _result(finding: Finding) -> str:
    effect = finding.effect
    if effect is None:
        return f"{finding.verdict} ({finding.why_not_tested})"
    bounds = f"{effect.value:.4f} ({effect.low:.4f} to {effect.high:.4f})"
    p, corrected = (tables.p_value(value) for value in (effect.p_value, effect.corrected))
    return f"{bounds}, p {p}, corrected {corrected}: {finding.verdict}"


def _differences(published: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*published, *ours}):
        one, other = published.get(key), ours.get(key)
        if isinstance(one, float) and isinstance(other, float):
            is_same = isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        else:
            is_same = one == other
        if not is_same:
            yield f"{key} {one} published, {other} here"
