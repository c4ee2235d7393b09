"""Boxes cover every pair once, fit tightly, and are split where that saves most."""

from __future__ import annotations

from itertools import product
from unittest import mock

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.training import shapes
from aiayn.training.shapes import MAX_SHAPES, Box, choose_boxes

Array = npt.NDArray[np.int64]
pairs = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=60)


def _boxes(lengths: list[tuple[int, int]], tokens: float) -> list[Box]:
    return choose_boxes(
        np.array([s for s, _ in lengths]), np.array([t for _, t in lengths]), tokens
    )


@given(pairs, st.floats(0.5, 200))
@settings(max_examples=50, deadline=None)
def test_every_pair_is_in_one_box_that_fits(lengths: list[tuple[int, int]], tokens: float) -> None:
    boxes = _boxes(lengths, tokens)
    assert len(boxes) <= MAX_SHAPES
    for s, t in lengths:
        containing = [
            b for b in boxes if b.source[0] <= s <= b.source[1] and b.target[0] <= t <= b.target[1]
        ]
        assert len(containing) == 1
    for box in boxes:
        inside = [
            (s, t)
            for s, t in lengths
            if box.source[0] <= s <= box.source[1] and box.target[0] <= t <= box.target[1]
        ]
        assert box.source == (min(s for s, _ in inside), max(s for s, _ in inside))
        assert box.target == (min(t for _, t in inside), max(t for _, t in inside))
        assert (box.pairs, box.tokens) == (len(inside), sum(s + t for s, t in inside))


def _padded(lengths: list[tuple[int, int]]) -> int:
    return len(lengths) * (max(s for s, _ in lengths) + max(t for _, t in lengths))


@given(pairs)
@settings(max_examples=50, deadline=None)
def test_a_split_is_the_best_of_all(lengths: list[tuple[int, int]]) -> None:
    """Compared with all splits, where parts are too small to be split again."""
    minimum = _padded(lengths) / 2.9
    with mock.patch.object(shapes, "RECURRENCES", (1,)):
        boxes = _boxes(lengths, minimum / 2)
    costs = [_padded(lengths)]
    for axis, last in product((0, 1), range(1, 30)):
        parts = [p for p in lengths if p[axis] <= last], [p for p in lengths if p[axis] > last]
        if all(part and _padded(part) >= minimum for part in parts):
            costs.append(sum(map(_padded, parts)))
    assert len(boxes) <= 2
    assert sum(box.padded_tokens for box in boxes) == min(costs)


def test_equal_lengths_need_one_shape() -> None:
    assert _boxes([(5, 7)] * 100, 12) == [Box((5, 5), (7, 7), 100, 1200)]


def test_rows_have_the_requested_tokens() -> None:
    box = Box((10, 20), (10, 20), pairs=1000, tokens=30_000)  # 15 tokens a side
    assert box.rows(150) == 10
    assert box.rows(152) == 11, "99 batches of 11, the last of 10; not 100 of 10 and a rest"
    assert box.rows(1e9) == 1000
    assert box.rows(1) == 1


def test_shapes_recur(wmt_like_lengths: tuple[Array, Array]) -> None:
    boxes = choose_boxes(*wmt_like_lengths, 3125)
    assert min(box.pairs / box.rows(3125) for box in boxes) > 3
