"""An epoch has every pair once, any step can be computed directly, and there is little padding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.data.tokens.arrays import Side, TokenArrays
from aiayn.data.tokens.special import PAD
from aiayn.errors import ConfigError
from aiayn.training.batching import BatchPlan, MicroBatch, fill, sequential_batches

Array = npt.NDArray[np.int64]
Lengths = tuple[Array, Array]

lengths = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=80).map(
    lambda pairs: (np.array([s for s, _ in pairs]), np.array([t for _, t in pairs]))
)


def _plan(
    pairs: Lengths,
    *,
    batch_tokens: int = 256,
    micro_batches: int = 3,
    max_length: int = 256,
    seed: int = 1,
) -> BatchPlan:
    return BatchPlan(
        *pairs,
        batch_tokens=batch_tokens,
        micro_batches=micro_batches,
        max_length=max_length,
        seed=seed,
    )


def _stream(plan: BatchPlan, steps: int) -> Iterator[MicroBatch]:
    for k in range(steps):
        yield from plan.step(k)


def _content(batches: list[MicroBatch]) -> list[tuple[list[int], tuple[int, int, int]]]:
    return [(batch.indices.tolist(), batch.shape) for batch in batches]


@given(lengths, st.integers(1, 9), st.integers(20, 400), st.integers(5, 40))
@settings(max_examples=60, deadline=None)
def test_every_epoch_has_every_kept_pair_once(
    pairs: Lengths, micro_batches: int, batch_tokens: int, max_length: int
) -> None:
    kept = np.flatnonzero((pairs[0] <= max_length) & (pairs[1] <= max_length))
    plan_for = partial(
        _plan,
        pairs,
        batch_tokens=batch_tokens,
        micro_batches=micro_batches,
        max_length=max_length,
    )
    if not len(kept):
        with pytest.raises(ConfigError, match=f"max_length is {max_length}: all {len(pairs[0])}"):
            plan_for()
        return
    plan = plan_for()
    assert plan.left_out == len(pairs[0]) - len(kept)
    per_epoch = round(plan.steps_per_epoch * micro_batches)
    stream = list(_stream(plan, -(-3 * per_epoch // micro_batches)))
    for epoch in range(3):
        batches = stream[epoch * per_epoch : (epoch + 1) * per_epoch]
        seen = np.concatenate([batch.indices for batch in batches])
        assert sorted(seen.tolist()) == kept.tolist()
    for batch in stream:
        rows, s, t = batch.shape
        assert batch.shape in plan.shapes
        assert 1 <= len(batch.indices) <= rows
        assert pairs[0][batch.indices].max() <= s
        assert pairs[1][batch.indices].max() <= t


@given(lengths, st.lists(st.integers(0, 50), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_any_step_can_be_computed_directly(pairs: Lengths, steps: list[int]) -> None:
    plan, fresh = _plan(pairs), _plan(pairs)
    in_order = [_content(plan.step(k)) for k in range(51)]
    assert [_content(fresh.step(k)) for k in steps] == [in_order[k] for k in steps]


def test_epochs_follow_one_another_within_a_step() -> None:
    pairs = (np.full(70, 10), np.full(70, 10))
    plan = _plan(pairs, batch_tokens=200, micro_batches=2)  # 7 micro-batches of 10: 3.5 steps
    assert plan.steps_per_epoch == 3.5
    stream = list(_stream(plan, 7))
    for epoch in (stream[:7], stream[7:]):
        assert sorted(np.concatenate([b.indices for b in epoch]).tolist()) == list(range(70))


@pytest.mark.slow
def test_order_and_batches_depend_on_seed_and_epoch(multi30k_lengths: Lengths) -> None:
    plan = _plan(multi30k_lengths, batch_tokens=2048, micro_batches=1)
    epoch = int(plan.steps_per_epoch)
    batches = {frozenset(plan.step(k)[0].indices.tolist()) for k in range(epoch)}
    later = {frozenset(plan.step(k)[0].indices.tolist()) for k in range(epoch, 2 * epoch)}
    assert len(batches & later) < 0.1 * epoch
    assert _content(plan.step(0)) != _content(plan.step(epoch))
    other_seed = _plan(multi30k_lengths, seed=2, batch_tokens=2048, micro_batches=1)
    assert _content(plan.step(0)) != _content(other_seed.step(0))


def test_neighbouring_steps_are_not_of_neighbouring_length(wmt_like_lengths: Lengths) -> None:
    plan = _plan(wmt_like_lengths, batch_tokens=25_000, micro_batches=1)
    widths = np.array([plan.step(k)[0].shape[2] for k in range(int(plan.steps_per_epoch))])
    assert len(widths) > 300
    assert abs(np.corrcoef(widths[:-1], widths[1:])[0, 1]) < 0.2


def _measured_padding(plan: BatchPlan, pairs: Lengths, micro_batches: int) -> tuple[float, float]:
    """(padding share, real tokens a side in an average step), counted batch by batch."""
    per_epoch = round(plan.steps_per_epoch * micro_batches)
    stream = list(_stream(plan, -(-per_epoch // micro_batches)))[:per_epoch]
    real = sum(int((pairs[0] + pairs[1])[batch.indices].sum()) for batch in stream)
    computed = sum(rows * (s + t) for rows, s, t in (batch.shape for batch in stream))
    return 1 - real / computed, real / 2 / plan.steps_per_epoch


@pytest.mark.slow
@pytest.mark.parametrize("micro_batches", [1, 2, 4, 8])
@pytest.mark.parametrize("batch_tokens", [2048, 8192, 25_000])
def test_little_padding_on_multi30k(
    multi30k_lengths: Lengths, batch_tokens: int, micro_batches: int
) -> None:
    plan = _plan(multi30k_lengths, batch_tokens=batch_tokens, micro_batches=micro_batches)
    padding, tokens = _measured_padding(plan, multi30k_lengths, micro_batches)
    assert padding == pytest.approx(plan.padding_share)
    assert len(plan.shapes) <= 100
    assert tokens == pytest.approx(batch_tokens, rel=0.06)
    # with 18 micro-batches an epoch, batches cannot be both so full and so little padded
    assert padding < (0.12 if (batch_tokens, micro_batches) == (25_000, 1) else 0.08)


@pytest.mark.slow
@pytest.mark.parametrize(("batch_tokens", "micro_batches"), [(25_000, 8), (25_000, 1), (2048, 1)])
def test_little_padding_on_lengths_like_wmt(
    wmt_like_lengths: Lengths, batch_tokens: int, micro_batches: int
) -> None:
    plan = _plan(wmt_like_lengths, batch_tokens=batch_tokens, micro_batches=micro_batches)
    padding, tokens = _measured_padding(plan, wmt_like_lengths, micro_batches)
    assert padding == pytest.approx(plan.padding_share)
    assert padding < 0.08
    assert tokens == pytest.approx(batch_tokens, rel=0.02)


def _arrays(pairs: Lengths) -> TokenArrays:
    """Arrays of these lengths, with all ids different."""

    def side(lengths: Array) -> Side:
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Side(np.arange(1, offsets[-1] + 1).astype(np.uint16), offsets)

    return TokenArrays(side(pairs[0]), side(pairs[1]), vocabulary=1 << 16)


@given(lengths)
@settings(max_examples=30, deadline=None)
def test_fill(pairs: Lengths) -> None:
    arrays = _arrays(pairs)
    for batch in _plan(pairs).step(0):
        rows = batch.shape[0]
        for filled, side, width in zip(fill(arrays, batch), (0, 1), batch.shape[1:], strict=True):
            assert filled.shape == (rows, width)
            assert filled.dtype == np.int64
            expected = [arrays.pair(int(i))[side].tolist() for i in batch.indices]
            expected += [[]] * (rows - len(expected))
            assert filled.tolist() == [ids + [PAD] * (width - len(ids)) for ids in expected]


def test_rows_without_a_pair_are_padding() -> None:
    source, target = fill(
        _arrays((np.array([2]), np.array([1]))), MicroBatch(np.array([0]), (2, 3, 1))
    )
    assert source.tolist() == [[1, 2, PAD], [PAD, PAD, PAD]]
    assert target.tolist() == [[1], [PAD]]


@given(lengths, st.integers(1, 200))
@settings(max_examples=50, deadline=None)
def test_sequential_batches(pairs: Lengths, tokens: int) -> None:
    batches = sequential_batches(*pairs, tokens)
    assert sorted(np.concatenate([b.indices for b in batches]).tolist()) == list(
        range(len(pairs[0]))
    )
    for batch in batches:
        rows, s, t = batch.shape
        assert rows == len(batch.indices)
        assert (s, t) == (pairs[0][batch.indices].max(), pairs[1][batch.indices].max())
        assert rows == 1 or rows * (s + t) <= 2 * tokens
    widths = [batch.shape[2] for batch in batches]
    assert widths == sorted(widths)


def test_no_pairs_no_batches() -> None:
    nothing = np.zeros(0, np.int64)
    assert sequential_batches(nothing, nothing, 100) == []
