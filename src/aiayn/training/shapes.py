"""The shapes of a corpus's micro-batches: few enough to recur, close to its lengths.

Every pair is a point (source length, target length). A box is a rectangle of such points, and its
pairs are padded to its far corner. One box around all points is split where that saves the most
padding, and so are its parts, as long as every box can fill a few micro-batches per epoch.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MAX_SHAPES = 100
# micro-batches that every shape should fill in an epoch, tried in this order until padding is below
# the goal; much below one, batches could not hold the tokens that they should
RECURRENCES = (4, 3, 2, 1.5, 1, 0.75)
PADDING_GOAL = 0.05

Histogram = npt.NDArray[np.int64]  # pairs by (source length, target length)
Range = tuple[int, int]  # both ends included


@dataclass(frozen=True, order=True)
class Box:
    """The pairs of lengths in `source` x `target`: their number, and their real tokens on both
    sides together."""

    source: Range
    target: Range
    pairs: int
    tokens: int

    @property
    def padded_tokens(self) -> int:
        """Tokens of the whole box, both sides together, when every pair is padded to its corner."""
        return self.pairs * (self.source[1] + self.target[1])

    def rows(self, micro_batch_tokens: float) -> int:
        """Pairs in a micro-batch that holds about `micro_batch_tokens` real tokens a side, chosen
        so that the last micro-batch of an epoch is nearly full too."""
        batches = max(1, round(self.tokens / (2 * micro_batch_tokens)))
        return -(-self.pairs // batches)


def choose_boxes(
    source_lengths: npt.NDArray[np.int64],
    target_lengths: npt.NDArray[np.int64],
    micro_batch_tokens: float,
) -> list[Box]:
    """At most MAX_SHAPES boxes, in order, that hold every pair once.

    Args:
        source_lengths, target_lengths: (pairs,); at least one pair.
        micro_batch_tokens: real tokens of a micro-batch on each side.
    """
    width = int(target_lengths.max()) + 1
    histogram = np.bincount(
        source_lengths * width + target_lengths, minlength=(int(source_lengths.max()) + 1) * width
    ).reshape(-1, width)
    boxes: list[Box] = []
    for recurrences in RECURRENCES:
        boxes = _split_up(histogram, 2 * micro_batch_tokens * recurrences)
        real, padded = sum(b.tokens for b in boxes), sum(b.padded_tokens for b in boxes)
        if 1 - real / padded <= PADDING_GOAL or len(boxes) == MAX_SHAPES:
            break
    return sorted(boxes)


def _split_up(histogram: Histogram, least_tokens: float) -> list[Box]:
    """Split while that saves padding and leaves `least_tokens` padded tokens on either side."""
    whole = _shrunk(histogram, (0, histogram.shape[0] - 1), (0, histogram.shape[1] - 1))
    heap = [(*_best_split(histogram, whole, least_tokens), whole)]
    while len(heap) < MAX_SHAPES and heap[0][0] < 0:
        _, axis, last, box = heapq.heappop(heap)
        for part in _parts(histogram, box, axis, last):
            heapq.heappush(heap, (*_best_split(histogram, part, least_tokens), part))
    return [box for *_, box in heap]


def _best_split(histogram: Histogram, box: Box, least_tokens: float) -> tuple[int, int, int]:
    """(padding that it adds: negative, or 0 if there is no such split; axis: 0 source, 1 target;
    last length of the first part)."""
    best = (0, 0, 0)
    inside = _inside(histogram, box.source, box.target)
    for axis, counts, along, across in (
        (0, inside, box.source, box.target),
        (1, inside.T, box.target, box.source),
    ):
        lengths = np.arange(along[0], along[1] + 1)
        pairs = counts.sum(axis=1)
        before = pairs.cumsum()
        # the parts need not reach across the whole box: each shrinks onto its own pairs
        longest = np.maximum.accumulate(np.where(pairs > 0, lengths, 0))
        reach = np.where(counts > 0, np.arange(across[0], across[1] + 1), 0).max(axis=1)
        reach_after = np.maximum.accumulate(reach[::-1])[::-1]
        first = before * (longest + np.maximum.accumulate(reach))
        second = (box.pairs - before[:-1]) * (along[1] + reach_after[1:])
        added = first[:-1] + second - box.padded_tokens
        added[np.minimum(first[:-1], second) < least_tokens] = 0
        if len(added) and added.min() < best[0]:
            best = (int(added.min()), axis, int(lengths[added.argmin()]))
    return best


def _parts(histogram: Histogram, box: Box, axis: int, last: int) -> tuple[Box, Box]:
    if axis == 0:
        ranges = ((box.source[0], last), box.target), ((last + 1, box.source[1]), box.target)
    else:
        ranges = (box.source, (box.target[0], last)), (box.source, (last + 1, box.target[1]))
    return _shrunk(histogram, *ranges[0]), _shrunk(histogram, *ranges[1])


def _shrunk(histogram: Histogram, source: Range, target: Range) -> Box:
    """The smallest box around the pairs within these ranges."""
    inside = _inside(histogram, source, target)
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    lengths = np.add.outer(np.arange(source[0], source[1] + 1), np.arange(target[0], target[1] + 1))
    return Box(
        (source[0] + int(rows[0]), source[0] + int(rows[-1])),
        (target[0] + int(columns[0]), target[0] + int(columns[-1])),
        int(inside.sum()),
        int((inside * lengths).sum()),
    )


def _inside(histogram: Histogram, source: Range, target: Range) -> Histogram:
    return histogram[source[0] : source[1] + 1, target[0] : target[1] + 1]
