"""The decoder one position at a time: what `Transformer.states` computes, for prefixes that grow.

Keys and values of earlier positions stay where they were written: a beam that reorders its
hypotheses moves none of them. It reorders the rows of a mask that says which of the positions
written for a sentence are a hypothesis's own. Where room ends, what none of them sees any more
makes room; mostly that is much, for the hypotheses of a sentence soon go back to a common one.
Within a neighbourhood of r positions, a piece is written over the one that no step sees any more:
there is room for r, however long prefixes grow.

Shape suffixes as in model/transformer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from aiayn.data.tokens.special import PAD
from aiayn.model.attention import KeysValues
from aiayn.model.device import dtype_of_products
from aiayn.model.layers import DecoderLayer
from aiayn.model.transformer import Transformer

NEVER = float("-inf")
ROOM = 16  # pieces of a prefix by which the room for them grows
READ_TOGETHER = 32  # sentences, padded to the longest of their own


@dataclass
class Attended:
    """Keys, transposed as their product with queries wants them, and values; room for more."""

    keys_BHKS: Tensor
    values_BHSV: Tensor

    @classmethod
    def of(cls, parts: Sequence[KeysValues], positions: int) -> Attended:
        """Those of the parts of a batch, each padded to so many positions."""
        keys, values = [], []
        for part in parts:
            padding = positions - part.keys_BHSK.shape[2]
            keys.append(functional.pad(part.keys_BHSK.transpose(2, 3), (0, padding)))
            values.append(functional.pad(part.values_BHSV, (0, 0, 0, padding)))
        return cls(torch.cat(keys), torch.cat(values))

    @property
    def room(self) -> int:
        """For how many positions there is room, the written ones included."""
        return self.keys_BHKS.shape[3]

    def moved(self, kept_BS: Tensor, more: int) -> Attended:
        """The given positions alone, in the given order, and room for more behind them."""
        at_BHKS = kept_BS[:, None, None, :].expand(*self.keys_BHKS.shape[:3], -1)
        at_BHSV = kept_BS[:, None, :, None].expand(
            -1, self.values_BHSV.shape[1], -1, self.values_BHSV.shape[3]
        )
        return Attended(
            functional.pad(self.keys_BHKS.gather(3, at_BHKS), (0, more)),
            functional.pad(self.values_BHSV.gather(2, at_BHSV), (0, 0, 0, more)),
        )

    def write(self, first: int, keys_BHWK: Tensor, values_BHWV: Tensor) -> None:
        """Fill W positions, from the given one on."""
        end = first + keys_BHWK.shape[2]
        self.keys_BHKS[..., first:end] = keys_BHWK.transpose(2, 3)
        self.values_BHSV[:, :, first:end] = values_BHWV

    def select(self, sentences: Tensor) -> Attended:
        """The given sentences alone, in the given order."""
        return Attended(
            self.keys_BHKS.index_select(0, sentences), self.values_BHSV.index_select(0, sentences)
        )

    def attend(self, queries_BHWK: Tensor, mask: Tensor) -> Tensor:
        """softmax(Q K^T + mask) V over the positions that the mask has, shape (B, W, H * V).

        Args:
            queries_BHWK: already divided by sqrt(d_k).
            mask: of shape (B, 1, 1 or W, S).
        """
        written = mask.shape[3]
        scores_BHWS = (queries_BHWK @ self.keys_BHKS[..., :written]).add_(mask)
        weights_BHWS = torch.softmax(scores_BHWS, dim=-1)
        return (weights_BHWS @ self.values_BHSV[:, :, :written]).transpose(1, 2).flatten(2)


@dataclass
class Prefixes:
    """W prefixes of each of B sentences, all of one length, as the decoder's layers see them.

    The newest pieces of all prefixes are written side by side, behind what is kept of the earlier
    ones; within a neighbourhood of r positions, piece t of prefix w at position (t modulo r) W + w.
    Which of them a prefix sees is in `sees_B1WS`: 0 for those that are its own, else -infinity, to
    be added to scores. `source_B11S` says the same of the source's positions, of which padding is
    not seen.
    """

    length: int
    written: list[Attended]
    sees_B1WS: Tensor
    source: list[Attended]
    source_B11S: Tensor

    def reorder(self, origin_BW: Tensor) -> None:
        """Prefix w now is what prefix `origin_BW[b, w]` was; there may be more than there were."""
        rows_B1WS = origin_BW[:, None, :, None].expand(-1, -1, -1, self.sees_B1WS.shape[3])
        self.sees_B1WS = self.sees_B1WS.gather(2, rows_B1WS)

    def make_room(self, more: int, *, forgets: bool) -> None:
        """For more positions; if it `forgets`, in place of those that no prefix sees any more."""
        is_seen_BS = (self.sees_B1WS == 0).any(dim=2)[:, 0]
        if not forgets:
            is_seen_BS = torch.ones_like(is_seen_BS)
        most = int(is_seen_BS.sum(dim=1).max())
        # a sentence of fewer keeps some that are not seen
        order_BS = torch.sort(
            is_seen_BS.to(torch.int8), dim=1, descending=True, stable=True
        ).indices
        kept_BS = order_BS[:, :most]
        self.written = [attended.moved(kept_BS, more) for attended in self.written]
        at_B1WS = kept_BS[:, None, None, :].expand(*self.sees_B1WS.shape[:3], -1)
        self.sees_B1WS = self.sees_B1WS.gather(3, at_B1WS)

    def select(self, sentences: Tensor) -> None:
        """Keep the given sentences alone, in the given order."""
        self.written = [attended.select(sentences) for attended in self.written]
        self.source = [attended.select(sentences) for attended in self.source]
        self.sees_B1WS = self.sees_B1WS.index_select(0, sentences)
        self.source_B11S = self.source_B11S.index_select(0, sentences)


class IncrementalDecoder:
    """A model's decoder, ready to go step by step; several threads may share it.

    Args:
        model: in evaluation mode. Copies of its weights are used, so train it no further; they have
            the format of products here, so make it under the autocast that it will run under.
    """

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.layers = [_Layer(layer) for layer in model.decoder_layers]

    def start(self, source_BS: Tensor, beam: int) -> Prefixes:
        """Read the sources. Empty prefixes are all alike, so there is one for each, which the first
        step or the first reordering makes up to `beam` of.

        Args:
            source_BS: int64 piece ids, padded on the right.
        """
        rows, longest = source_BS.shape
        is_real_BS = source_BS != PAD
        memories = []
        for first in range(0, rows, READ_TOGETHER):
            some = slice(first, first + READ_TOGETHER)
            own_longest = int(is_real_BS[some].sum(dim=1).max())
            memories.append(self.model.encode(source_BS[some, :own_longest]))
        return Prefixes(
            length=0,
            written=[
                layer.empty(rows, min(ROOM, self.model.neighbourhood or ROOM) * beam)
                for layer in self.layers
            ],
            sees_B1WS=self.model.embedding.new_empty(rows, 1, 1, 0),
            source=[
                Attended.of(parts, longest)
                for parts in zip(*(memory.layers for memory in memories), strict=True)
            ],
            source_B11S=_added(is_real_BS[:, None, None]),
        )

    def step(self, newest_BW: Tensor, prefixes: Prefixes) -> Tensor:
        """Append a piece to each prefix; the decoder's output (B, W, D) at it.

        Args:
            newest_BW: int64 piece ids; the start symbol at first.
        """
        rows, beam = newest_BW.shape
        r = self.model.neighbourhood
        prefixes.sees_B1WS = prefixes.sees_B1WS.expand(-1, -1, beam, -1)  # from the one at first
        place = prefixes.sees_B1WS.shape[3]
        if r:  # each step has `beam` places, also the first one if it needed less
            unseen = beam * min(prefixes.length, r) - place
            prefixes.sees_B1WS = functional.pad(prefixes.sees_B1WS, (0, unseen), value=NEVER)
            place = beam * (prefixes.length % r)
        if place + beam > prefixes.written[0].room:
            prefixes.make_room(ROOM * beam, forgets=r is None)
            place = prefixes.sees_B1WS.shape[3]
        before_B1WS, after_B1WS = prefixes.sees_B1WS[..., :place], prefixes.sees_B1WS[..., place:]
        itself_B1WS = _added(torch.eye(beam, dtype=torch.bool, device=newest_BW.device))
        prefixes.sees_B1WS = torch.cat(
            (before_B1WS, itself_B1WS.expand(rows, 1, -1, -1), after_B1WS[..., beam:]), dim=3
        )
        model = self.model
        x_BWD: Tensor = functional.embedding(newest_BW, model.embedding) * model.scale
        x_BWD += model.target_positions(prefixes.length, 1)
        for layer, written, source in zip(
            self.layers, prefixes.written, prefixes.source, strict=True
        ):
            x_BWD = layer.step(
                x_BWD, place, written, prefixes.sees_B1WS, source, prefixes.source_B11S
            )
        prefixes.length += 1
        return x_BWD


class _Layer:
    """A decoder layer: one matrix for the products of one input, cast to their format once; queries
    are divided by sqrt(d_k) by way of the matrix that makes them.
    """

    def __init__(self, layer: DecoderLayer) -> None:
        self.layer = layer
        own, source = layer.self_attention, layer.cross_attention
        self.sizes = [len(linear.weight) for linear in (own.w_q, own.w_k, own.w_v)]
        by = (own.h / len(own.w_q.weight)) ** 0.5  # 1 / sqrt(d_k)
        dtype = dtype_of_products(own.w_q.weight)
        self.w_qkv = torch.cat((own.w_q.weight * by, own.w_k.weight, own.w_v.weight)).to(dtype)
        self.w_q_source = (source.w_q.weight * by).to(dtype)

    def empty(self, rows: int, positions: int) -> Attended:
        """Room for positions, none of them written."""
        _, keys, values = (size // self.layer.self_attention.h for size in self.sizes)
        h = self.layer.self_attention.h
        # zeros, for what is masked is still multiplied, by 0: what memory held may be no number
        return Attended(
            self.w_qkv.new_zeros(rows, h, keys, positions),
            self.w_qkv.new_zeros(rows, h, positions, values),
        )

    def step(
        self,
        x_BWD: Tensor,
        place: int,
        written: Attended,
        sees_B1WS: Tensor,
        source: Attended,
        source_B11S: Tensor,
    ) -> Tensor:
        """(B, W, D) to (B, W, D); keys and values of the newest pieces are written at `place`."""
        layer = self.layer
        parts = functional.linear(x_BWD, self.w_qkv).split_with_sizes(self.sizes, dim=2)
        queries, keys, values = (self._heads(part) for part in parts)
        written.write(place, keys, values)
        y_BWD = layer.self_attention.w_o(written.attend(queries, sees_B1WS))
        x_BWD = layer.self_attention_residual(x_BWD, y_BWD)
        queries = self._heads(functional.linear(x_BWD, self.w_q_source))
        y_BWD = layer.cross_attention.w_o(source.attend(queries, source_B11S))
        x_BWD = layer.cross_attention_residual(x_BWD, y_BWD)
        out: Tensor = layer.feed_forward_residual(x_BWD, layer.feed_forward(x_BWD))
        return out

    def _heads(self, x_BWD: Tensor) -> Tensor:
        """(B, W, H * K) to (B, H, W, K)."""
        return x_BWD.view(*x_BWD.shape[:2], self.layer.self_attention.h, -1).transpose(1, 2)


def _added(may_attend: Tensor) -> Tensor:
    """A mask to be added to scores: 0 where attention is allowed, else -infinity."""
    return torch.zeros(may_attend.shape, device=may_attend.device).masked_fill_(~may_attend, NEVER)
