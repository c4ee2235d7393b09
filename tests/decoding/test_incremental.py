"""The incremental decoder compared with the model's parallel path."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from aiayn.config import Model
from aiayn.decoding import incremental
from aiayn.decoding.candidates import NextPieces
from aiayn.decoding.incremental import CACHE_STEP, IncrementalDecoder, Prefixes
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer

Row = Callable[..., Model]
LENGTH = 2 * CACHE_STEP + 5  # so that the cache grows twice


def seeded(row: Model) -> Transformer:
    torch.manual_seed(0)
    return Transformer(row, 40, max_length=2 * LENGTH).eval()


def tokens(rows: int, length: int) -> Tensor:
    generator = torch.Generator().manual_seed(rows * 100 + length)
    return torch.randint(4, 40, (rows, length), generator=generator)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"d_k": 3, "d_v": 5},
        {"h": 1},
        {"positions": "learned"},
        {"neighbourhood": 4},
        {"neighbourhood": CACHE_STEP + 1},
        {"attention": "unscaled"},
        {"attention": "additive", "d_k": 3, "d_v": 5},
        {"attention": "sigmoid"},
        {"norm": "pre", "positions": "none"},
        {"position_base": 100.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("encode_rows", [1, 2])
def test_logits_equal_those_of_the_model(
    tiny: Row, columns: dict[str, object], encode_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With padded sources, several prefixes a sentence, and a cache that grows."""
    monkeypatch.setattr(incremental, "ENCODE_ROWS", encode_rows)
    model = seeded(tiny(**columns))
    source, target = tokens(2, 6), tokens(6, LENGTH)
    source[1, 4:] = 0
    with torch.no_grad():
        expected = model(source.repeat_interleave(3, dim=0), target)
        decoder = IncrementalDecoder(model)
        prefixes = decoder.start(source, 3)
        for t in range(LENGTH):
            logits = model.logits(decoder.step(target[:, t].view(2, 3), prefixes))
            torch.testing.assert_close(logits.flatten(0, 1), expected[:, t], atol=1e-5, rtol=1e-5)


def reordered_prefixes(
    decoder: IncrementalDecoder, source: Tensor, origins: Tensor, newest: Tensor
) -> Prefixes:
    """Prefixes after steps that each end in a reorder; origins and newest are (steps, B, W)."""
    prefixes = decoder.start(source, newest.shape[2])
    for origin_BW, newest_BW in zip(origins, newest, strict=True):
        decoder.step(newest_BW, prefixes)
        prefixes.reorder(origin_BW)
    return prefixes


@pytest.mark.parametrize("neighbourhood", [None, 3])
def test_reordered_prefixes_and_dropped_sentences(tiny: Row, neighbourhood: int | None) -> None:
    model = seeded(tiny(neighbourhood=neighbourhood))
    source, newest = tokens(3, 6), tokens(LENGTH * 3, 4).view(LENGTH, 3, 4)
    source[0, 3:] = 0
    generator = torch.Generator().manual_seed(1)
    origins = torch.randint(0, 4, (LENGTH, 3, 4), generator=generator)
    kept = torch.tensor([2, 0])
    with torch.no_grad():
        decoder = IncrementalDecoder(model)
        prefixes = reordered_prefixes(decoder, source, origins, newest)
        prefixes.select(kept)
        found = model.logits(decoder.step(tokens(2, 4), prefixes))
        pieces = torch.empty(3, 4, 0, dtype=torch.int64)
        for origin_BW, newest_BW in zip(origins, newest, strict=True):
            extended = torch.cat((pieces, newest_BW[:, :, None]), dim=2)
            pieces = extended.gather(1, origin_BW[:, :, None].expand_as(extended))
        whole = torch.cat((pieces[kept], tokens(2, 4)[:, :, None]), dim=2).flatten(0, 1)
        expected = model(source[kept].repeat_interleave(4, dim=0), whole)[:, -1]
    torch.testing.assert_close(found.flatten(0, 1), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("neighbourhood", [None, 1, 3])
def test_the_first_step_may_have_one_prefix(tiny: Row, neighbourhood: int | None) -> None:
    """One prefix a sentence in the first step, from which all others continue."""
    decoder = IncrementalDecoder(seeded(tiny(neighbourhood=neighbourhood)))
    source, newest = tokens(2, 6), tokens(LENGTH * 2, 3).view(LENGTH, 2, 3)
    first = torch.full((2, 3), 2)
    with torch.no_grad():
        from_one, from_three = decoder.start(source, 3), decoder.start(source, 3)
        decoder.step(first, from_three)
        decoder.step(first[:, :1], from_one)
        from_one.reorder(torch.zeros(2, 3, dtype=torch.int64))
        for newest_BW in newest:
            expected = decoder.step(newest_BW, from_three)
            torch.testing.assert_close(decoder.step(newest_BW, from_one), expected)


def test_a_piece_that_no_prefix_sees_is_dropped_when_the_cache_is_full(tiny: Row) -> None:
    decoder = IncrementalDecoder(seeded(tiny()))
    from_the_first, newest = (
        torch.zeros(CACHE_STEP + 1, 2, 3, dtype=torch.int64),
        tokens(CACHE_STEP * 2 + 2, 3),
    )
    with torch.no_grad():
        prefixes = reordered_prefixes(
            decoder, tokens(2, 6), from_the_first, newest.view(CACHE_STEP + 1, 2, 3)
        )
    assert {attended.capacity for attended in prefixes.written} == {CACHE_STEP + CACHE_STEP * 3}
    assert prefixes.sees_B1WS.shape == (2, 1, 3, CACHE_STEP + 3)


def test_a_neighbourhood_bounds_the_cache(tiny: Row) -> None:
    decoder = IncrementalDecoder(seeded(tiny(neighbourhood=5)))
    prefixes = decoder.start(tokens(2, 6), 3)
    with torch.no_grad():
        for t in range(LENGTH):
            decoder.step(tokens(6, LENGTH)[:, t].view(2, 3), prefixes)
    assert prefixes.length == LENGTH
    assert {attended.capacity for attended in prefixes.written} == {5 * 3}
    assert prefixes.sees_B1WS.shape == (2, 1, 3, 5 * 3)


def test_cache_and_weights_have_the_dtype_of_products(tiny: Row) -> None:
    """A float32 cache would take twice the memory and be cast in each step; so would weights."""
    model = seeded(tiny())
    with torch.inference_mode(), Device(torch.device("cpu"), "bfloat16").autocast():
        decoder, next_pieces = IncrementalDecoder(model), NextPieces(model.embedding)
        prefixes = decoder.start(tokens(1, 3), 2)
        decoder.step(torch.tensor([[2, 2]]), prefixes)
    for attended in (*prefixes.written, *prefixes.source):
        assert {attended.keys_BHKS.dtype, attended.values_BHSV.dtype} == {torch.bfloat16}
    weights = {layer.w_qkv.dtype for layer in decoder.layers} | {next_pieces.weight_DP.dtype}
    assert weights == {torch.bfloat16}
