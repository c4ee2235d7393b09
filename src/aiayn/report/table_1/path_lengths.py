"""Table 1's maximum path lengths: measured, beside what a layer's definition comes to exactly."""

from __future__ import annotations

from collections.abc import Iterable

from aiayn.profiling.layer_types import LAYER_TYPES, PATHS
from aiayn.report.parts.tables import EMPTY, Cell, Row, Table
from aiayn.report.parts.verdict import Verdict
from aiayn.results.profiles import LayersProfile, PathPoint

PATHS_RULE = (
    "Path length: layers (of the recurrence: steps) until the last position depends on the first, "
    "from the layers' Jacobians. Reproduced: at every measured size it is, to the layer, what the "
    "paper's term comes to for the layer's definition. A contiguous kernel reaches ⌊k / 2⌋ "
    "positions either way, a neighborhood ⌊r / 2⌋. The dilated kernels read backwards, as in "
    "ByteNet's decoder, with dilations 1, k, k², ..., so that L layers reach all distances of L "
    "digits to base k."
)


def kind_of(row: str) -> str:
    """The layer type whose stack is measured for a row of table 1."""
    return LAYER_TYPES[row].path_from or row


def as_counted(kind: str, points: Iterable[PathPoint]) -> bool:
    """Whether every measured length is the exact count."""
    return all(point.layers == _count(kind, point) for point in points)


def path_cell(kind: str, points: Iterable[PathPoint]) -> Cell:
    """The exact count if it is what was measured; else that it is not."""
    if as_counted(kind, points):
        return Cell(PATHS[kind].formula)
    return Cell("another number", detail=f"than {PATHS[kind].formula}")


def paths(profile: LayersProfile) -> Table:
    """Every measured path length beside the exact count."""
    rows = []
    for kind, growth in profile.paths.items():
        for point in growth.points.values():
            same = as_counted(kind, (point,))
            verdict = Verdict.REPRODUCED if same else Verdict.DIFFERS
            rows.append(
                Row(
                    (
                        Cell(LAYER_TYPES[kind].name),
                        Cell(str(point.n)),
                        Cell(EMPTY if point.size is None else str(point.size)),
                        Cell(PATHS[kind].formula),
                        Cell(str(_count(kind, point))),
                        Cell(str(point.layers), sources=(f"{point.source}.layers",)),
                        Cell(verdict.value, tone=verdict.name.lower()),
                    )
                )
            )
    return Table(
        "Path lengths, measured",
        ("Stack", "n", "k or r", "Layers by definition", "Count", "Measured", "Verdict"),
        "lrrlrrl",
        tuple(rows),
        (("", PATHS_RULE),),
        key="paths",
    )


def _count(kind: str, point: PathPoint) -> int:
    return PATHS[kind].layers(point.n, point.size or 0)
