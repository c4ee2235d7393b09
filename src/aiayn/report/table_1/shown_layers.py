"""The layer types of table 1, and some more, as tables and figures show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aiayn.results.profiles import PathPoint


@dataclass(frozen=True)
class ExactPath:
    """How many layers connect the ends of n positions: in words, and from n and the kernel or
    neighborhood.

    The reaches of so many layers add up to a distance of n - 1.
    """

    text: str
    layers: Callable[[int, int], int]

    def count(self, point: PathPoint) -> int:
        """Of a measured point's n and kernel or neighborhood."""
        return self.layers(point.n, point.size or 0)

    def matches(self, points: Iterable[PathPoint]) -> bool:
        """Whether every measured length is the exact count."""
        return all(point.layers == self.count(point) for point in points)


@dataclass(frozen=True)
class ShownLayer:
    """A layer type; `path` is that of a stack of it, None where none is measured.

    `stack` is the layer type whose stack is measured for its row of table 1, if it is another.
    """

    name: str
    path: ExactPath | None = None
    stack: str = ""


def _digits(number: int, base: int) -> int:
    """How many digits a whole number has, without the rounding of logarithms."""
    digits = 1
    while number >= base:
        number //= base
        digits += 1
    return digits


LAYERS = {
    "self_attention": ShownLayer("Self-attention", ExactPath("1", lambda n, _: 1)),
    "recurrent": ShownLayer("Recurrent", ExactPath("n", lambda n, _: n)),
    "convolutional": ShownLayer(
        "Convolutional",
        ExactPath("⌈(n − 1) / ⌊k / 2⌋⌉", lambda n, k: -(-(n - 1) // (k // 2))),
        stack="dilated",  # the log_k n of table 1
    ),
    "restricted": ShownLayer(
        "Self-attention (restricted)",
        ExactPath("⌈(n − 1) / ⌊r / 2⌋⌉", lambda n, r: -(-(n - 1) // (r // 2))),
    ),
    "lstm": ShownLayer("LSTM"),
    "gru": ShownLayer("GRU"),
    "dilated": ShownLayer(
        "Convolutional, dilated", ExactPath("⌈log_k n⌉", lambda n, k: _digits(n - 1, k))
    ),
    "separable": ShownLayer("Separable convolution"),
}
"""By the name in profiles/layers.json; the order gives each its colour and dash."""
