"""Micro-batches of pairs of similar length (section 5.1), ordered by seed and epoch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aiayn.data.tokens.arrays import Lengths, Side, TokenArrays
from aiayn.data.tokens.special import PAD
from aiayn.errors import ConfigError
from aiayn.training.shapes import choose_boxes

Shape = tuple[int, int, int]
Indices = npt.NDArray[np.integer]
Batch = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MicroBatch:
    """Pairs that are computed together.

    indices: (at most rows,) numbers of the pairs.
    shape: (rows, S, T): source is padded to (rows, S), target to (rows, T).
    """

    indices: Indices
    shape: Shape


class BatchPlan:
    """Which pairs every optimiser step sees.

    The stream of micro-batches is one epoch after the other; each holds every kept pair once, in
    the same number of micro-batches. Step k (from 0) takes the next `micro_batches` of the stream,
    and any step can be computed directly. An epoch is a function of (seed, epoch): the pairs of
    each shape are shuffled, then all micro-batches are put in random order.

    A global batch holds, on average, `batch_tokens` real tokens a side (mean of source and target).

    Attributes:
        left_out: pairs with a side above `max_length`.
        shapes: every (rows, S, T) that occurs.
        padding_share: padding as a share of all tokens computed in an epoch, both sides.
        steps_per_epoch: optimiser steps in which every pair is seen once; a fraction.
    """

    def __init__(
        self,
        source_lengths: Lengths,
        target_lengths: Lengths,
        *,
        batch_tokens: int,
        micro_batches: int,
        max_length: int,
        seed: int,
    ) -> None:
        """Plan for the pairs of these lengths, END counted.

        Raises:
            ConfigError: no pair is within `max_length`.
        """
        kept = np.flatnonzero(np.maximum(source_lengths, target_lengths) <= max_length)
        if not len(kept):
            raise ConfigError(
                f"training.max_length is {max_length}: all {len(source_lengths)} training pairs "
                "are longer. Raise it."
            )
        self.left_out = len(source_lengths) - len(kept)
        self._seed, self._micro_batches = seed, micro_batches
        source, target = source_lengths[kept], target_lengths[kept]
        tokens = batch_tokens / micro_batches
        boxes = choose_boxes(source, target, tokens)
        self.shapes: list[Shape] = [(b.rows(tokens), b.source[1], b.target[1]) for b in boxes]

        box_at = np.zeros((int(source.max()) + 1, int(target.max()) + 1), np.uint8)
        for number, box in enumerate(boxes):
            box_at[box.source[0] : box.source[1] + 1, box.target[0] : box.target[1] + 1] = number
        order = np.argsort(box_at[source, target], kind="stable")
        # 32 bits hold any number of pairs that fits a disk, in half the memory
        self._pairs = kept.astype(np.uint32)[order]
        ends = np.cumsum([box.pairs for box in boxes])
        self._boxes = [
            slice(int(end) - box.pairs, int(end)) for end, box in zip(ends, boxes, strict=True)
        ]
        self._slots = [
            (begin, min(begin + shape[0], where.stop), shape)
            for where, shape in zip(self._boxes, self.shapes, strict=True)
            for begin in range(where.start, where.stop, shape[0])
        ]
        computed = sum(rows * (s + t) for _, _, (rows, s, t) in self._slots)
        self.padding_share = 1 - sum(box.tokens for box in boxes) / computed
        self.steps_per_epoch = len(self._slots) / micro_batches
        self._cached: tuple[int, Indices, Indices] | None = None

    def step(self, k: int) -> list[MicroBatch]:
        """The global batch of step `k`, counted from 0."""
        first = k * self._micro_batches
        return [self._micro_batch(n) for n in range(first, first + self._micro_batches)]

    def _micro_batch(self, n: int) -> MicroBatch:
        """Number `n` of the stream."""
        epoch, position = divmod(n, len(self._slots))
        pairs, order = self._epoch(epoch)
        begin, end, shape = self._slots[order[position]]
        return MicroBatch(pairs[begin:end], shape)

    def _epoch(self, epoch: int) -> tuple[Indices, Indices]:
        """(pairs as they fill the slots, order of the slots)."""
        if self._cached is None or self._cached[0] != epoch:
            generator = np.random.Generator(np.random.PCG64([self._seed, epoch]))
            pairs = self._pairs.copy()
            for box in self._boxes:
                generator.shuffle(pairs[box])
            self._cached = (epoch, pairs, generator.permutation(len(self._slots)))
        return self._cached[1:]


def sequential_batches(
    source_lengths: Lengths, target_lengths: Lengths, tokens: int
) -> list[MicroBatch]:
    """Every pair once, shortest first, always the same; for validation.

    Args:
        source_lengths, target_lengths: (pairs,), END counted.
        tokens: the most that a batch has per side (mean of source and target, padding counted),
            unless it is a single pair.
    """
    order = np.lexsort((source_lengths, target_lengths))
    batches: list[MicroBatch] = []
    begin = widest = 0
    for end, pair in enumerate(order):
        wider = max(widest, int(source_lengths[pair]))
        if end > begin and (end + 1 - begin) * (wider + int(target_lengths[pair])) > 2 * tokens:
            batches.append(_tight(order[begin:end], source_lengths, target_lengths))
            begin, wider = end, int(source_lengths[pair])
        widest = wider
    if len(order):
        batches.append(_tight(order[begin:], source_lengths, target_lengths))
    return batches


def _tight(indices: Indices, source_lengths: Lengths, target_lengths: Lengths) -> MicroBatch:
    widths = int(source_lengths[indices].max()), int(target_lengths[indices].max())
    return MicroBatch(indices, (len(indices), *widths))


def fill(arrays: TokenArrays, micro_batch: MicroBatch) -> tuple[Batch, Batch]:
    """Source (rows, S) and target (rows, T) ids, int64, END after each sentence, then PAD.

    Rows beyond the micro-batch's pairs are PAD throughout.
    """
    rows, source_width, target_width = micro_batch.shape
    return (
        _padded(arrays.source, micro_batch.indices, rows, source_width),
        _padded(arrays.target, micro_batch.indices, rows, target_width),
    )


def _padded(side: Side, indices: Indices, rows: int, width: int) -> Batch:
    begins = side.offsets[indices]
    lengths = side.offsets[indices + 1] - begins
    assert lengths.max() <= width
    positions = np.arange(width)
    real = positions < lengths[:, None]
    batch = np.full((rows, width), PAD, np.int64)
    batch[: len(indices)][real] = side.ids[(begins[:, None] + positions)[real]]
    return batch
