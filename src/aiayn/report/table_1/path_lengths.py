"""Table 1's maximum path lengths: measured, beside what a layer's definition comes to exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aiayn.report.parts.tables import EMPTY, Cell, Row, Table
from aiayn.report.parts.verdict import Verdict
from aiayn.report.table_1.layer_figures import NAMES
from aiayn.results.profiles import LayersProfile, PathPoint

PATHS_RULE = (
    "Path length: layers (of the recurrence: steps) until the last position depends on the first, "
    "from the layers' Jacobians. Reproduced: at every measured size it is, to the layer, what the "
    "paper's term comes to for the layer's definition. A contiguous kernel reaches ⌊k / 2⌋ "
    "positions either way, a neighborhood ⌊r / 2⌋. The dilated kernels read backwards, as in "
    "ByteNet's decoder, with dilations 1, k, k², ..., so that L layers reach all distances of L "
    "digits to base k."
)


@dataclass(frozen=True)
class ExactPath:
    """How many layers join the ends of n positions: in words, and from n and the kernel or
    neighbourhood.

    The reaches of so many layers add up to a distance of n - 1.
    """

    text: str
    layers: Callable[[int, int], int]


EXACT_PATHS = {
    "self_attention": ExactPath("1", lambda n, _: 1),
    "recurrent": ExactPath("n", lambda n, _: n),
    "convolutional": ExactPath("⌈(n − 1) / ⌊k / 2⌋⌉", lambda n, k: -(-(n - 1) // (k // 2))),
    "dilated": ExactPath("⌈log_k n⌉", lambda n, k: _digits(n - 1, k)),
    "restricted": ExactPath("⌈(n − 1) / ⌊r / 2⌋⌉", lambda n, r: -(-(n - 1) // (r // 2))),
}


def kind_of(row: str) -> str:
    """The stack that is measured for a row of table 1: its log_k n is that of dilated kernels."""
    return {"convolutional": "dilated"}.get(row, row)


def as_counted(kind: str, points: Iterable[PathPoint]) -> bool:
    """Whether every measured length is the exact count."""
    return all(point.layers == _count(kind, point) for point in points)


def path_cell(kind: str, points: Iterable[PathPoint]) -> Cell:
    """The exact count if it is what was measured; else that it is not."""
    if as_counted(kind, points):
        return Cell(EXACT_PATHS[kind].text)
    return Cell("another number", detail=f"than {EXACT_PATHS[kind].text}")


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
                        Cell(NAMES[kind]),
                        Cell(str(point.n)),
                        Cell(EMPTY if point.size is None else str(point.size)),
                        Cell(EXACT_PATHS[kind].text),
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
    return EXACT_PATHS[kind].layers(point.n, point.size or 0)


def _digits(number: int, base: int) -> int:
    """How many digits a whole number has, without the rounding of logarithms."""
    digits = 1
    while number >= base:
        number //= base
        digits += 1
    return digits
