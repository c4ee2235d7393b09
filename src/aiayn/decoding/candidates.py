"""The best extensions of hypotheses: the part of a beam search step over the vocabulary.

The vocabulary is divided into groups of adjacent pieces, and only the groups with the largest
maxima are sorted. Shape suffixes as in model/transformer.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from aiayn.data.tokens.special import END, PAD, START
from aiayn.model.device import dtype_of_products

NEVER = float("-inf")
GROUP = 128  # pieces per group


@dataclass(frozen=True)
class Candidates:
    """The C best extensions of each sentence's hypotheses, best first: the total log-probability,
    the extended hypothesis, and the piece.
    """

    total_BC: Tensor
    origin_BC: Tensor
    piece_BC: Tensor


class NextPieces:
    """The pre-softmax transformation (section 3.4), and the selection of the best extensions.

    Padding and the start symbol are never output.

    Args:
        embedding: (P, D), the matrix that input and output share. A copy is used, in the dtype of
            matrix products.
    """

    def __init__(self, embedding: Tensor) -> None:
        self.vocabulary = len(embedding)
        padding = -self.vocabulary % GROUP
        # transposed because that is faster for few rows; cast once, not in each step
        weight_PD = embedding.to(dtype_of_products(embedding))
        self.weight_DP = functional.pad(weight_PD, (0, 0, 0, padding)).t().contiguous()
        self.groups = self.weight_DP.shape[1] // GROUP

    def best(
        self,
        states_BWD: Tensor,
        total_BW: Tensor,
        number: int,
        may_only_end_B: Tensor | None = None,
    ) -> Candidates:
        """The best extensions of W hypotheses of each of B sentences.

        Args:
            states_BWD: the decoder's output at the newest pieces.
            total_BW: log-probabilities of the hypotheses. For -infinity no logits are computed; at
                least one must be finite.
            number: of extensions per sentence. If there are fewer, the remaining ones have
                log-probability -infinity.
            may_only_end_B: bool, sentences whose hypotheses must end now.
        """
        beam = total_BW.shape[1]
        total_F = total_BW.flatten()
        live = (total_F > NEVER).nonzero()[:, 0]
        logits_FP = (states_BWD.flatten(0, 1)[live] @ self.weight_DP).float()
        logits_FP[:, PAD] = logits_FP[:, START] = NEVER
        logits_FP[:, self.vocabulary :] = NEVER
        torch.log_softmax(logits_FP, dim=1, out=logits_FP)
        if may_only_end_B is not None:
            end_F = logits_FP[:, END].clone()
            logits_FP[may_only_end_B.repeat_interleave(beam)[live]] = NEVER
            logits_FP[:, END] = end_F
        grouped = logits_FP.view(len(live), self.groups, GROUP)
        largest = logits_FP.new_full((len(total_F), self.groups), NEVER)
        largest[live] = grouped.amax(2) + total_F[live, None]
        # the `number` best are in the `number` groups with the largest maxima
        bounds = largest.view(len(total_BW), beam * self.groups)
        group_BC = bounds.topk(min(number, bounds.shape[1]), dim=1).indices
        origin_BC = group_BC // self.groups
        row_F = torch.zeros_like(total_F, dtype=torch.int64)  # in the logits
        row_F[live] = torch.arange(len(live), device=live.device)
        row_BC = row_F.view_as(total_BW).gather(1, origin_BC)
        held = grouped[row_BC, group_BC % self.groups]
        held += total_BW.gather(1, origin_BC)[:, :, None]
        held_BC = held.flatten(1)
        missing = max(0, number - held_BC.shape[1])
        total_BC, index_BC = held_BC.topk(number - missing, dim=1)
        piece_BC = (group_BC % self.groups * GROUP).gather(1, index_BC // GROUP)
        piece_BC += index_BC % GROUP
        # padding of the last group may be among the candidates, but has no embedding
        piece_BC.clamp_(max=self.vocabulary - 1)
        origin_BC = origin_BC.gather(1, index_BC // GROUP)
        if missing:
            total_BC = functional.pad(total_BC, (0, missing), value=NEVER)
            origin_BC = functional.pad(origin_BC, (0, missing))
            piece_BC = functional.pad(piece_BC, (0, missing))
        return Candidates(total_BC, origin_BC, piece_BC)
