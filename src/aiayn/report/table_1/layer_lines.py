"""Table 1 for programs: one figure a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aiayn.paper import Paper
from aiayn.report.parts.section import Entry
from aiayn.results.profiles import Fitted, LayersProfile

COLUMNS = ("complexity", "sequential_operations", "maximum_path_length")
FIELDS = (
    "origin", "layer", "quantity", "size", "n", "d", "k", "r", "value", "standard_error", "paper",
    "verdict",
)  # fmt: skip


def layer_records(
    paper: Paper, profile: LayersProfile | None, entries: Sequence[Entry]
) -> list[dict[str, str]]:
    """The paper's formulas, then every number of ours. Empty fields do not apply.

    Args:
        entries: one for each of the paper's cells, row by row.
    """
    ours = _our_records(profile) if profile else ()
    lines = (*_printed_records(paper, entries), *ours)
    return [{field: line.get(field, "") for field in FIELDS} for line in lines]


def _printed_records(paper: Paper, entries: Sequence[Entry]) -> Iterator[dict[str, str]]:
    cells = [(key, column) for key in paper.table_1 for column in COLUMNS]
    for (key, column), entry in zip(cells, entries, strict=True):
        yield {
            "origin": "paper",
            "layer": key,
            "quantity": column,
            "value": getattr(paper.table_1[key], column),
            "verdict": entry.verdict.value,
        }


def _our_records(profile: LayersProfile) -> Iterator[dict[str, str]]:
    for name, counts in profile.counts.items():
        for size, exponent in counts.exponents.items():
            for part, fit in (("term", exponent.term), ("layer", exponent.layer)):
                about = {"layer": name, "quantity": f"exponent_of_{part}_flops", "size": size}
                yield _fit_record(fit) | about | {"paper": str(counts.paper[size])}
    for name, chain in profile.chains.items():
        for part, fit in (("slope", chain.slope), ("intercept", chain.intercept)):
            yield _fit_record(fit) | {
                "layer": name,
                "quantity": f"longest_chain_{part}",
                "size": "n",
            }
    for name, growth in profile.paths.items():
        for size, fit in growth.exponents.items():
            about = {"layer": name, "quantity": "exponent_of_path_length", "size": size}
            yield _fit_record(fit) | about | {"paper": str(growth.paper[size])}
    for name, counts in profile.counts.items():
        for point in counts.points.values():
            for part in ("term", "layer"):
                sizes_of = {size: str(getattr(point, size)) for size in ("n", "d", "k", "r")}
                about = {"origin": "ours", "layer": name, "quantity": f"{part}_flops"}
                yield about | sizes_of | {"value": str(getattr(point, part))}


def _fit_record(fit: Fitted) -> dict[str, str]:
    return {
        "origin": "ours",
        "value": f"{fit.value:g}",
        "standard_error": f"{fit.standard_error:g}",
    }
