"""Incremental decoding: computes the same as `Transformer.states`, one position at a time.

The cache of keys and values is append-only. When the beam reorders its hypotheses, only the rows of
a mask are reordered, which says which of a sentence's cached positions belong to each hypothesis.
When the cache is full, positions that no hypothesis sees are dropped. These are usually many,
because the hypotheses of a sentence share most of their history. With a neighbourhood of r
positions, the cache is a ring buffer of r positions.

Shape suffixes as in model/transformer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from aiayn.data.tokens.special import PAD
from aiayn.model.attention import KeysValues, MultiHeadAttention
from aiayn.model.device import dtype_of_products
from aiayn.model.layers import DecoderAttention, DecoderLayer
from aiayn.model.transformer import Transformer
from aiayn.model.variants import UnscaledAttention

NEVER = float("-inf")
CACHE_STEP = 16  # positions per prefix by which the cache grows
ENCODE_ROWS = 32  # sentences encoded at once, padded to the longest of them


@dataclass
class Attended:
    """A cache of keys, transposed for their product with queries, and of values."""

    keys_BHKS: Tensor
    values_BHSV: Tensor

    @classmethod
    def of(cls, parts: Sequence[KeysValues], positions: int) -> Attended:
        """Keys and values of the parts of a batch, each padded to `positions`."""
        keys, values = [], []
        for part in parts:
            padding = positions - part.keys_BHSK.shape[2]
            keys.append(functional.pad(part.keys_BHSK.transpose(2, 3), (0, padding)))
            values.append(functional.pad(part.values_BHSV, (0, 0, 0, padding)))
        return cls(torch.cat(keys), torch.cat(values))

    @property
    def capacity(self) -> int:
        """Positions, written or not."""
        return self.keys_BHKS.shape[3]

    def moved(self, kept_BS: Tensor, more: int) -> Attended:
        """Only the given positions, in the given order, then `more` empty ones."""
        at_BHKS = kept_BS[:, None, None, :].expand(*self.keys_BHKS.shape[:3], -1)
        at_BHSV = kept_BS[:, None, :, None].expand(
            -1, self.values_BHSV.shape[1], -1, self.values_BHSV.shape[3]
        )
        return Attended(
            functional.pad(self.keys_BHKS.gather(3, at_BHKS), (0, more)),
            functional.pad(self.values_BHSV.gather(2, at_BHSV), (0, 0, 0, more)),
        )

    def write(self, first: int, keys_BHWK: Tensor, values_BHWV: Tensor) -> None:
        """Fill W positions, starting at `first`."""
        end = first + keys_BHWK.shape[2]
        self.keys_BHKS[..., first:end] = keys_BHWK.transpose(2, 3)
        self.values_BHSV[:, :, first:end] = values_BHWV

    def select(self, sentences: Tensor) -> Attended:
        """Only the given sentences, in the given order."""
        return Attended(
            self.keys_BHKS.index_select(0, sentences), self.values_BHSV.index_select(0, sentences)
        )

    def attend(
        self, queries_BHWK: Tensor, mask: Tensor, variant: UnscaledAttention | None = None
    ) -> Tensor:
        """softmax(Q K^T + mask) V over the mask's S positions, shape (B, W, H * V).

        Args:
            queries_BHWK: already divided by sqrt(d_k).
            mask: of shape (B, 1, 1 or W, S).
            variant: other scores and weights than the paper's, of queries as they are.
        """
        written = mask.shape[3]
        keys_BHKS = self.keys_BHKS[..., :written]
        if variant is None:
            weights_BHWS = torch.softmax((queries_BHWK @ keys_BHKS).add_(mask), dim=-1)
        else:
            scores_BHWS = variant.scores(queries_BHWK, keys_BHKS.transpose(2, 3))
            weights_BHWS = variant.normalized(scores_BHWS + mask)
        return (weights_BHWS @ self.values_BHSV[:, :, :written]).transpose(1, 2).flatten(2)


@dataclass
class Prefixes:
    """The decoder's state for W prefixes of each of B sentences, all of the same length.

    Attributes:
        length: of every prefix, in pieces.
        written: for each layer, keys and values of the prefixes' pieces. A step appends W
            positions, one for each prefix; with a neighbourhood of r positions, piece t of prefix w
            is at position (t modulo r) W + w.
        sees_B1WS: which positions belong to a prefix, as an additive mask: 0 for its own, else
            -infinity.
        source: for each layer, keys and values of the encoder's output.
        source_B11S: the additive mask of the source, -infinity for padding.
    """

    length: int
    written: list[Attended]
    sees_B1WS: Tensor
    source: list[Attended]
    source_B11S: Tensor

    def reorder(self, origin_BW: Tensor) -> None:
        """Replace prefix w by prefix `origin_BW[b, w]`; W may grow."""
        rows_B1WS = origin_BW[:, None, :, None].expand(-1, -1, -1, self.sees_B1WS.shape[3])
        self.sees_B1WS = self.sees_B1WS.gather(2, rows_B1WS)

    def grow(self, more: int, *, drops_unseen: bool) -> None:
        """Add space for `more` positions, optionally dropping those that no prefix sees."""
        is_seen_BS = (self.sees_B1WS == 0).any(dim=2)[:, 0]
        if not drops_unseen:
            is_seen_BS = torch.ones_like(is_seen_BS)
        most = int(is_seen_BS.sum(dim=1).max())
        # a sentence with fewer seen positions keeps some unseen ones
        order_BS = torch.sort(
            is_seen_BS.to(torch.int8), dim=1, descending=True, stable=True
        ).indices
        kept_BS = order_BS[:, :most]
        self.written = [attended.moved(kept_BS, more) for attended in self.written]
        at_B1WS = kept_BS[:, None, None, :].expand(*self.sees_B1WS.shape[:3], -1)
        self.sees_B1WS = self.sees_B1WS.gather(3, at_B1WS)

    def select(self, sentences: Tensor) -> None:
        """Keep only the given sentences, in the given order."""
        self.written = [attended.select(sentences) for attended in self.written]
        self.source = [attended.select(sentences) for attended in self.source]
        self.sees_B1WS = self.sees_B1WS.index_select(0, sentences)
        self.source_B11S = self.source_B11S.index_select(0, sentences)


class IncrementalDecoder:
    """A model's decoder, step by step; several threads may share it.

    Args:
        model: in evaluation mode. Copies of its weights are used, so do not train it further. They
            have the dtype of matrix products, so construct this under the autocast in which it
            runs.
    """

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.layers = [_Layer(layer) for layer in model.decoder_layers]

    def start(self, source_BS: Tensor, beam: int) -> Prefixes:
        """Encode the sources. Each has one empty prefix, because all of its hypotheses would be
        equal; the first step or the first reordering expands it to at most `beam`.

        Args:
            source_BS: int64 piece ids, padded on the right.
        """
        rows, longest = source_BS.shape
        is_real_BS = source_BS != PAD
        memories = []
        for first in range(0, rows, ENCODE_ROWS):
            some = slice(first, first + ENCODE_ROWS)
            own_longest = int(is_real_BS[some].sum(dim=1).max())
            memories.append(self.model.encode(source_BS[some, :own_longest]))
        return Prefixes(
            length=0,
            written=[
                layer.empty(rows, min(CACHE_STEP, self.model.neighbourhood or CACHE_STEP) * beam)
                for layer in self.layers
            ],
            sees_B1WS=self.model.embedding.new_empty(rows, 1, 1, 0),
            source=[
                Attended.of(parts, longest)
                for parts in zip(*(memory.layers for memory in memories), strict=True)
            ],
            source_B11S=_additive(is_real_BS[:, None, None]),
        )

    def step(self, newest_BW: Tensor, prefixes: Prefixes) -> Tensor:
        """Append a piece to each prefix; returns the decoder's output (B, W, D) at it.

        Args:
            newest_BW: int64 piece ids; the start symbol at first.
        """
        rows, beam = newest_BW.shape
        r = self.model.neighbourhood
        prefixes.sees_B1WS = prefixes.sees_B1WS.expand(-1, -1, beam, -1)  # at first one prefix
        start = prefixes.sees_B1WS.shape[3]
        if r:  # each step takes `beam` positions, even if the first step needed fewer
            unseen = beam * min(prefixes.length, r) - start
            prefixes.sees_B1WS = functional.pad(prefixes.sees_B1WS, (0, unseen), value=NEVER)
            start = beam * (prefixes.length % r)
        if start + beam > prefixes.written[0].capacity:
            prefixes.grow(CACHE_STEP * beam, drops_unseen=r is None)
            start = prefixes.sees_B1WS.shape[3]
        before_B1WS, after_B1WS = prefixes.sees_B1WS[..., :start], prefixes.sees_B1WS[..., start:]
        itself_B1WS = _additive(torch.eye(beam, dtype=torch.bool, device=newest_BW.device))
        prefixes.sees_B1WS = torch.cat(
            (before_B1WS, itself_B1WS.expand(rows, 1, -1, -1), after_B1WS[..., beam:]), dim=3
        )
        model, sees_B1WS = self.model, prefixes.sees_B1WS
        attentions = [
            DecoderAttention(
                to_target=partial(layer.attend_to_target, start, written, sees_B1WS),
                to_source=partial(layer.attend_to_source, source, prefixes.source_B11S),
            )
            for layer, written, source in zip(
                self.layers, prefixes.written, prefixes.source, strict=True
            )
        ]
        position_1D = model.target_positions(prefixes.length, 1)
        prefixes.length += 1
        return model.decode(newest_BW, position_1D, attentions)


class _Layer:
    """The two attentions of a decoder layer, for one position of every prefix at a time.

    Matrices with the same input are concatenated and cast to the dtype of products once; the
    division by sqrt(d_k) is folded into the query matrix.
    """

    def __init__(self, layer: DecoderLayer) -> None:
        own, source = layer.self_attention, layer.cross_attention
        self.h, self.w_o, self.w_o_source = own.h, own.w_o, source.w_o
        self.sizes = [len(linear.weight) for linear in (own.w_q, own.w_k, own.w_v)]
        self.own = own if isinstance(own, UnscaledAttention) else None
        self.source = source if isinstance(source, UnscaledAttention) else None
        dtype = dtype_of_products(own.w_q.weight)
        self.w_qkv = torch.cat((_scaled_queries(own), own.w_k.weight, own.w_v.weight)).to(dtype)
        self.w_q_source = _scaled_queries(source).to(dtype)

    def empty(self, rows: int, positions: int) -> Attended:
        """Space for keys and values of `positions` positions."""
        _, keys, values = (size // self.h for size in self.sizes)
        # zeros: masked values are still multiplied, by 0, and uninitialised memory may be NaN
        return Attended(
            self.w_qkv.new_zeros(rows, self.h, keys, positions),
            self.w_qkv.new_zeros(rows, self.h, positions, values),
        )

    def attend_to_target(
        self, start: int, written: Attended, sees_B1WS: Tensor, x_BWD: Tensor
    ) -> Tensor:
        """(B, W, D) to (B, W, D); writes the keys and values of x to positions `start` onwards."""
        parts = functional.linear(x_BWD, self.w_qkv).split_with_sizes(self.sizes, dim=2)
        queries, keys, values = (self._heads(part) for part in parts)
        written.write(start, keys, values)
        out: Tensor = self.w_o(written.attend(queries, sees_B1WS, self.own))
        return out

    def attend_to_source(self, source: Attended, source_B11S: Tensor, x_BWD: Tensor) -> Tensor:
        """(B, W, D) to (B, W, D)."""
        queries = self._heads(functional.linear(x_BWD, self.w_q_source))
        out: Tensor = self.w_o_source(source.attend(queries, source_B11S, self.source))
        return out

    def _heads(self, x_BWD: Tensor) -> Tensor:
        """(B, W, H * K) to (B, H, W, K)."""
        return x_BWD.view(*x_BWD.shape[:2], self.h, -1).transpose(1, 2)


def _additive(may_attend: Tensor) -> Tensor:
    """An additive mask: 0 where attention is allowed, else -infinity."""
    return torch.zeros(may_attend.shape, device=may_attend.device).masked_fill_(~may_attend, NEVER)


def _scaled_queries(attention: MultiHeadAttention) -> Tensor:
    """The query matrix divided by sqrt(d_k), where the attention is the paper's."""
    weight: Tensor = attention.w_q.weight
    if isinstance(attention, UnscaledAttention):
        return weight
    scale: float = (attention.h / len(weight)) ** 0.5
    return weight * scale
