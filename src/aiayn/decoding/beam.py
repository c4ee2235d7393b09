"""Beam search (section 6.1) over hypotheses that share their sentence's encoded source.

Each sentence is searched as if it were alone: its own length limit, its own end, no view of its
neighbours. What company can change is rounding, because a matrix product of another shape may add
up in another order: in float32 in the seventh digit, in bfloat16 in the third, where a choice
between near ties may fall otherwise. The same sentences in the same order give the same outputs.

Shape suffixes as in model/transformer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from aiayn.compute.device import Device
from aiayn.config import Decoding
from aiayn.errors import CheckpointError
from aiayn.model.transformer import Memory, Transformer
from aiayn.tokens.bpe import END, PAD, START

NEVER = float("-inf")
BATCH_ROWS = 512  # hypotheses searched at once; changes no result beyond rounding
BATCH_SOURCE_TOKENS = 8192


@dataclass(frozen=True)
class Hypothesis:
    """Pieces without start and end symbols, and log P(y | x) / length_penalty."""

    pieces: list[int]
    score: float


def length_penalty(length: float, alpha: float) -> float:
    """((5 + length) / 6)^alpha; the length counts the end symbol.

    Paper: section 6.1, by way of Wu et al. 2016, equation 14.
    """
    return float(((5 + length) / 6) ** alpha)


@torch.inference_mode()
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
        decoding: beam width, alpha, and how much longer than its input an output may be.
        done: told how many more sentences are finished, for a progress bar.
    Returns:
        In the order of `sources`.
    Raises:
        CheckpointError: no output of a sentence has a probability: the weights are not numbers.
    """  # fmt: skip
    found: dict[int, Hypothesis] = {}
    for batch in _batches([len(source) for source in sources], decoding.beam):
        longest = max(len(sources[n]) for n in batch)
        padded = torch.full((len(batch), longest), PAD)
        for row, n in enumerate(batch):
            padded[row, : len(sources[n])] = torch.tensor(sources[n])
        limits = [len(sources[n]) - 1 + decoding.extra_length for n in batch]
        with device.autocast():
            memory = model.encode(padded.to(device.device))
            search = _Search(model, memory, limits, decoding)
            while search.open:
                search.advance()
        for n, best in zip(batch, search.best, strict=True):
            if best is None:
                raise CheckpointError(
                    f"sentence {n + 1}: the model gives no output a probability. Its weights are "
                    "not finite numbers: train it again."
                )
            found[n] = best
        done(len(batch))
    return [found[n] for n in range(len(sources))]


def _batches(lengths: Sequence[int], beam: int) -> Iterator[list[int]]:
    """Sentence numbers, longest first, so that neighbours need little padding."""
    order = sorted(range(len(lengths)), key=lambda n: (-lengths[n], n))
    while order:
        size = max(1, min(BATCH_ROWS // beam, BATCH_SOURCE_TOKENS // lengths[order[0]]))
        yield order[:size]
        order = order[size:]


class _Search:
    """The open hypotheses of a batch of sentences, all of the same length at any time."""

    def __init__(
        self, model: Transformer, memory: Memory, limits: Sequence[int], decoding: Decoding
    ) -> None:
        self.model, self.memory, self.decoding = model, memory, decoding
        self.best: list[Hypothesis | None] = [None] * len(limits)
        self.limits = list(limits)
        sentences, beam = len(limits), decoding.beam
        self.sentence = list(range(sentences))  # which sentence a row of the batch is
        self.is_open = [True] * sentences
        device = memory.may_attend_B11S.device
        self.past = model.start(sentences * beam)
        self.newest_BW = torch.full((sentences, beam), START, device=device)
        self.pieces_BWT = torch.empty(sentences, beam, 0, dtype=torch.int64, device=device)
        # all hypotheses begin alike: only the first counts, or the beam would hold it W times
        self.total_BW = torch.full((sentences, beam), NEVER, device=device)
        self.total_BW[:, 0] = 0.0

    @property
    def open(self) -> bool:
        """Whether any sentence may still get a better hypothesis."""
        return any(self.is_open)

    def advance(self) -> None:
        """Extend every open hypothesis by one piece."""
        logits_BWP, past = self.model.step(self.newest_BW, self.past, self.memory)
        total_BC, origin_BC, piece_BC = self._candidates(logits_BWP.float())
        length = self.pieces_BWT.shape[2] + 1  # of the candidates
        is_end_BC = piece_BC == END
        in_beam_C = torch.arange(piece_BC.shape[1], device=piece_BC.device) < self.decoding.beam
        # an end counts if it is within the beam: a beam of one is then a greedy search
        self._finish(total_BC, origin_BC, is_end_BC & in_beam_C, length)
        # the beam goes on with the W best that do not end: 2 W candidates hold at least as many
        order_BC = torch.sort(is_end_BC.to(torch.int8), dim=1, stable=True).indices
        keep_BW = order_BC[:, : self.decoding.beam]
        self.total_BW = total_BC.gather(1, keep_BW)
        self.newest_BW = piece_BC.gather(1, keep_BW)
        origin_BW = origin_BC.gather(1, keep_BW)
        self._close(length)
        if not self.open:
            return
        rows = self._rows_to_keep()
        first_B = torch.arange(len(self.sentence), device=rows.device) * self.decoding.beam
        self.past = past.select((origin_BW + first_B[:, None])[rows].flatten())
        kept_BWT = self.pieces_BWT.gather(1, origin_BW[:, :, None].expand(-1, -1, length - 1))
        self.pieces_BWT = torch.cat((kept_BWT, self.newest_BW[:, :, None]), dim=2)[rows]
        self.total_BW, self.newest_BW = self.total_BW[rows], self.newest_BW[rows]
        if len(rows) < len(self.sentence):
            self.memory = self.memory.select(rows)
            self.sentence = [self.sentence[row] for row in rows.tolist()]
            self.is_open = [True] * len(self.sentence)

    def _candidates(self, logits_BWP: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The 2 W best extensions of each sentence, best first: log-probability, which hypothesis
        they extend, and by which piece; (B, C) each.
        """
        logits_BWP[..., PAD] = logits_BWP[..., START] = NEVER
        beam = self.decoding.beam
        log_z_BW = logits_BWP.logsumexp(dim=2)
        length = self.pieces_BWT.shape[2]
        full = [row for row, n in enumerate(self.sentence) if length >= self.limits[n]]
        if full:  # nothing but the end may follow
            logits_BWP[full, :, :END] = logits_BWP[full, :, END + 1 :] = NEVER
        each = min(2 * beam, logits_BWP.shape[2])
        logit_BWC, piece_BWC = logits_BWP.topk(each, dim=2)
        total_BWC = self.total_BW[:, :, None] + (logit_BWC - log_z_BW[:, :, None])
        total_BC, place_BC = total_BWC.flatten(1).topk(min(2 * beam, beam * each), dim=1)
        return total_BC, place_BC // each, piece_BWC.flatten(1).gather(1, place_BC)

    def _finish(self, total_BC: Tensor, origin_BC: Tensor, is_end_BC: Tensor, length: int) -> None:
        """Note ended candidates that beat the best so far of their sentence."""
        # within a sentence all have the same length now, so the likeliest is the best
        best_B, column_B = torch.where(is_end_BC, total_BC, NEVER).max(dim=1)
        penalty = length_penalty(length, self.decoding.alpha)
        for row, (total, column) in enumerate(zip(best_B.tolist(), column_B.tolist(), strict=True)):
            sentence = self.sentence[row]
            best = self.best[sentence]
            if not self.is_open[row]:
                continue
            if total > NEVER and (best is None or total / penalty > best.score):
                pieces = self.pieces_BWT[row, origin_BC[row, column]].tolist()
                self.best[sentence] = Hypothesis(pieces, total / penalty)

    def _close(self, length: int) -> None:
        """Close sentences whose best cannot be beaten, or whose outputs may not grow.

        A hypothesis only loses probability as it grows, and the penalty is largest at the limit:
        so no open one can end better than its probability now over the penalty then.
        """
        for row, total in enumerate(self.total_BW[:, 0].tolist()):
            sentence = self.sentence[row]
            limit, best = self.limits[sentence], self.best[sentence]
            bound = total / length_penalty(limit + 1, self.decoding.alpha)
            may_grow = length <= limit and (best is None or best.score < bound)
            self.is_open[row] = self.is_open[row] and may_grow

    def _rows_to_keep(self) -> Tensor:
        """All rows until a quarter are closed, then the open ones: copying has its price too."""
        device = self.total_BW.device
        kept = [row for row, is_open in enumerate(self.is_open) if is_open]
        if 4 * len(kept) > 3 * len(self.is_open):
            return torch.arange(len(self.is_open), device=device)
        return torch.tensor(kept, dtype=torch.int64, device=device)
