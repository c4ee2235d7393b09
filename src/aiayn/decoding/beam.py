"""Batched beam search (section 6.1).

Each sentence has its own length limit and stopping point. The other sentences of its batch affect
only rounding, because the shape of a matrix product may change the order of summation: in the
seventh digit in float32, in the third in bfloat16, where near ties may be decided differently. The
same sentences in the same order give the same outputs, with any number of threads.

Shape suffixes as in model/transformer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from aiayn.config import Decoding
from aiayn.data.tokens.special import END, PAD, START
from aiayn.decoding.candidates import NEVER, Candidates, NextPieces
from aiayn.decoding.incremental import IncrementalDecoder
from aiayn.errors import CheckpointError
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer

BATCH_ROWS = 512  # hypotheses searched at once; affects only rounding
BATCH_SOURCE_TOKENS = 4096
CLOSE_AT = 7 / 8  # finished sentences are dropped when at most this share of the batch is open


@dataclass(frozen=True)
class Hypothesis:
    """Pieces without start and end symbols, and log P(y | x) / length_penalty."""

    pieces: list[int]
    score: float


def length_penalty(length: float, alpha: float) -> float:
    """((5 + length) / 6)^alpha; the length counts the end symbol.

    Paper: section 6.1, which cites Wu et al. 2016, equation 14.
    """
    return float(((5 + length) / 6) ** alpha)


def beam_search(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    decoding: Decoding,
    device: Device,
    done: Callable[[int], object] = lambda sentences: None,
) -> list[Hypothesis]:
    """The best hypothesis for each source.

    Args:
        model: in evaluation mode, on `device`.
        sources: piece ids, each ending in the end symbol.
        decoding: beam size, alpha, and the maximum output length relative to the input.
        done: called with the number of newly finished sentences, for a progress bar.
    Returns:
        Hypotheses in the order of `sources`.
    Raises:
        CheckpointError: all outputs of a sentence have NaN or zero probability: the weights are not
            finite.
    """  # fmt: skip
    return [best for (best,) in n_best(model, sources, decoding, device, 1, done)]


def n_best(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    decoding: Decoding,
    device: Device,
    n: int,
    done: Callable[[int], object] = lambda sentences: None,
) -> list[list[Hypothesis]]:
    """The n best finished hypotheses for each source, best first; fewer if fewer have finished.

    Arguments and errors as for `beam_search`.
    """
    with torch.inference_mode(), device.autocast():
        decoder, next_pieces = IncrementalDecoder(model), NextPieces(model.embedding)

    @torch.inference_mode()
    def search(batch: list[int]) -> list[list[Hypothesis]]:
        with device.autocast():
            some = [sources[number] for number in batch]
            return _Search(decoder, next_pieces, some, decoding, device, n).run()

    found: dict[int, list[Hypothesis]] = {}
    batches = list(_batches([len(source) for source in sources], decoding.beam))
    for batch, hypotheses in zip(batches, _in_threads(search, batches, device), strict=True):
        for number, best in zip(batch, hypotheses, strict=True):
            if not best:
                raise CheckpointError(
                    f"no output of a sentence of {len(sources[number])} pieces has a finite "
                    "log-probability, so the model's weights are not finite. Train it again."
                )
            found[number] = best
        done(len(batch))
    return [found[number] for number in range(len(sources))]


def _batches(lengths: Sequence[int], beam: int) -> Iterator[list[int]]:
    """Sentence numbers, longest first, so that neighbours need little padding."""
    order = sorted(range(len(lengths)), key=lambda n: (-lengths[n], n))
    while order:
        size = max(1, min(BATCH_ROWS // beam, BATCH_SOURCE_TOKENS // lengths[order[0]]))
        yield order[:size]
        order = order[size:]


def _in_threads(
    search: Callable[[list[int]], list[list[Hypothesis]]], batches: list[list[int]], device: Device
) -> Iterator[list[list[Hypothesis]]]:
    """Search every batch. On a CPU, several batches run concurrently with one torch thread each:
    this is faster than parallel products, and outputs do not depend on the number of threads.
    """
    threads = torch.get_num_threads() if device.device.type == "cpu" else 1
    if threads == 1:
        yield from map(search, batches)
        return
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(search, batches)
    finally:
        torch.set_num_threads(threads)


class _Search:
    """The open sentences of a batch; at any time, all hypotheses have the same length."""

    def __init__(
        self,
        decoder: IncrementalDecoder,
        next_pieces: NextPieces,
        sources: Sequence[Sequence[int]],
        decoding: Decoding,
        device: Device,
        n: int,
    ) -> None:
        self.decoder, self.next_pieces, self.beam = decoder, next_pieces, decoding.beam
        self.n = n
        self.stops_at_beam = decoding.stop == "beam"
        rows, on = len(sources), device.device
        source_BS = torch.full((rows, max(map(len, sources))), PAD)
        for row, source in enumerate(sources):
            source_BS[row, : len(source)] = torch.tensor(source)
        limits = [len(source) - 1 + decoding.extra_length for source in sources]
        self.penalties = [length_penalty(n, decoding.alpha) for n in range(max(limits) + 2)]
        largest = [self.penalties[limit + 1] for limit in limits]
        self.best: list[list[Hypothesis]] = [[] for _ in range(rows)]
        # the tensors below have one row per open sentence
        self.sentence_B = torch.arange(rows, device=on)
        self.limit_B = torch.tensor(limits, device=on)
        self.least_limit = min(limits)
        self.largest_penalty_B = torch.tensor(largest, dtype=torch.float64, device=on)
        self.score_B = torch.full_like(self.largest_penalty_B, NEVER)  # of the n-th best finished
        self.ended_B = torch.zeros_like(self.limit_B)  # number of finished hypotheses
        self.prefixes = decoder.start(source_BS.to(on), self.beam)
        # before the first piece, all hypotheses are equal: W = 1
        self.newest_BW = torch.full((rows, 1), START, device=on)
        self.pieces_BWT = torch.empty(rows, 1, 0, dtype=torch.int64, device=on)
        self.total_BW = torch.zeros(rows, 1, device=on)

    def run(self) -> list[list[Hypothesis]]:
        """The n best hypotheses for each source; none if all log-probabilities are NaN."""
        while len(self.sentence_B):
            self.advance()
        return self.best

    def advance(self) -> None:
        """Extend every hypothesis by one piece."""
        before = self.pieces_BWT.shape[2]
        states_BWD = self.decoder.step(self.newest_BW, self.prefixes)
        is_full_B = self.limit_B <= before if self.least_limit <= before else None
        found = self.next_pieces.best(states_BWD, self.total_BW, 2 * self.beam, is_full_B)
        is_end_BC = found.piece_BC == END
        self._collect_ended(found, is_end_BC, before + 1)
        # continue with the W best that do not end: at least W of the 2 W candidates do not
        order_BC = torch.sort(is_end_BC.to(torch.int8), dim=1, stable=True).indices
        keep_BW = order_BC[:, : self.beam]
        self.total_BW = found.total_BC.gather(1, keep_BW)
        self.newest_BW = found.piece_BC.gather(1, keep_BW)
        origin_BW = found.origin_BC.gather(1, keep_BW)
        self.prefixes.reorder(origin_BW)
        kept_BWT = self.pieces_BWT.gather(1, origin_BW[:, :, None].expand(-1, -1, before))
        self.pieces_BWT = torch.cat((kept_BWT, self.newest_BW[:, :, None]), dim=2)
        self._prune(before + 1)
        self._drop_finished()

    def _collect_ended(self, found: Candidates, is_end_BC: Tensor, length: int) -> None:
        """Keep finished candidates that are among the n best so far of their sentence."""
        # only the beam's W best may end, so that a beam of one is greedy search
        total_BW, is_end_BW = found.total_BC[:, : self.beam], is_end_BC[:, : self.beam]
        ended_BW = torch.where(is_end_BW, total_BW, NEVER)
        if self.stops_at_beam:
            self.ended_B += (ended_BW > NEVER).sum(dim=1)
        score_BW = ended_BW.double() / self.penalties[length]
        better = (score_BW > self.score_B[:, None]).nonzero()
        if not len(better):
            return
        rows, columns = better.unbind(dim=1)
        sentences, scores = self.sentence_B[rows].tolist(), score_BW[rows, columns].tolist()
        pieces = self.pieces_BWT[rows, found.origin_BC[rows, columns]].tolist()
        for sentence, *ended in zip(sentences, pieces, scores, strict=True):
            best = [*self.best[sentence], Hypothesis(*ended)]
            best.sort(key=lambda hypothesis: -hypothesis.score)  # stable: earlier ones first
            self.best[sentence] = best[: self.n]
        to_beat = [
            best[-1].score if len(best) == self.n else NEVER
            for best in (self.best[sentence] for sentence in sentences)
        ]
        self.score_B[rows] = self.score_B.new_tensor(to_beat)

    def _prune(self, length: int) -> None:
        """Drop hypotheses that cannot be among their sentence's n best or have reached the length
        limit; with `stop: beam`, all of a sentence once enough have finished.

        The log-probability of a hypothesis only decreases, and the length penalty is largest at the
        limit, so its current log-probability over that penalty bounds its final score. Pruning does
        not change the result, because extensions of a pruned hypothesis would rank below all others
        in the beam.
        """
        if self.stops_at_beam:  # hypotheses that cannot win still count when they end
            to_beat_B = torch.where(self.ended_B < self.beam, NEVER, 0.0)
        else:
            to_beat_B = self.score_B * self.largest_penalty_B
        to_beat_B.masked_fill_(length > self.limit_B, 0.0)
        self.total_BW.masked_fill_(~(self.total_BW > to_beat_B[:, None]), NEVER)

    def _drop_finished(self) -> None:
        """Drop finished sentences, several at once because the remaining ones are copied."""
        rows = (self.total_BW[:, 0] > NEVER).nonzero()[:, 0]
        if len(rows) > CLOSE_AT * len(self.sentence_B):
            return
        self.sentence_B, self.limit_B = self.sentence_B[rows], self.limit_B[rows]
        self.least_limit = min(self.limit_B.tolist(), default=0)
        self.largest_penalty_B, self.ended_B = self.largest_penalty_B[rows], self.ended_B[rows]
        self.score_B, self.total_BW = self.score_B[rows], self.total_BW[rows]
        self.newest_BW, self.pieces_BWT = self.newest_BW[rows], self.pieces_BWT[rows]
        self.prefixes.select(rows)
