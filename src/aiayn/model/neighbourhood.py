"""Self-attention restricted to a neighbourhood (section 4), as models are trained with it.

profiling/modules.py has the layer that table 1 counts, with a window for each position. Here
positions share windows: twice the multiplications in a fraction of the time
(docs/decisions/neighbourhood.md).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from aiayn.model.attention import KeysValues, MultiHeadAttention, fast_attention


class NeighbourhoodAttention(MultiHeadAttention):
    """Self-attention in which a position sees `r` positions: in the encoder r // 2 before it,
    itself and the rest after it; in the decoder itself and those before it.

    Queries are taken in blocks of r, each with the 2 r - 1 positions that any of them sees: for n
    positions ceil(n / r) r (2 r - 1) h (d_k + d_v) multiply-adds, where full attention has
    n^2 h (d_k + d_v), and nothing of n x n elements.
    """

    def __init__(self, d_model: int, h: int, d_k: int, d_v: int, r: int) -> None:
        super().__init__(d_model, h, d_k, d_v)
        self.r = r

    def attend(
        self,
        queries_BHTK: Tensor,
        attended: KeysValues,
        *,
        may_attend: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Attend within the neighbourhood; every position may see itself, even padding.

        Args:
            queries_BHTK: of all positions of a sentence.
            attended: keys and values of the same positions.
            may_attend: bool (B, 1, 1, S), True at real positions.
            is_causal: no position sees later ones.
        Returns:
            (B, T, D).
        """
        length, r = queries_BHTK.shape[2], self.r
        before, fill = self._before(is_causal=is_causal), -length % r
        padding = (before, fill + r - 1 - before)  # positions outside the sentence
        rows, h, _, d_k = queries_BHTK.shape
        queries_BHGRK = functional.pad(queries_BHTK, (0, 0, 0, fill)).view(rows, h, -1, r, d_k)
        keys_BHGKX, values_BHGVX = (
            functional.pad(x, (0, 0, *padding)).unfold(2, 2 * r - 1, r)
            for x in (attended.keys_BHSK, attended.values_BHSV)
        )
        if may_attend is None:
            may_attend = queries_BHTK.new_ones(1, 1, 1, length, dtype=torch.bool)
        is_there_BGX = functional.pad(may_attend[:, 0, 0], padding).unfold(1, 2 * r - 1, r)
        place_RX = self._offsets(2 * r - 1, r, queries_BHTK.device)
        near_RX = (place_RX >= 0) & (place_RX < r)
        sees_BGRX = is_there_BGX[:, :, None] & near_RX | (place_RX == before)
        heads_AHRV = fast_attention(
            queries_BHGRK.transpose(1, 2).flatten(0, 1),
            keys_BHGKX.transpose(1, 2).flatten(0, 1).transpose(2, 3),
            values_BHGVX.transpose(1, 2).flatten(0, 1).transpose(2, 3),
            sees_BGRX.expand(rows, -1, -1, -1).flatten(0, 1)[:, None],
        )
        heads_BTD = heads_AHRV.transpose(1, 2).flatten(2).view(rows, length + fill, -1)[:, :length]
        out: Tensor = self.w_o(heads_BTD)
        return out

    def mask(self, length: int, may_attend: Tensor | None, *, is_causal: bool) -> Tensor:
        """The same as a band in the mask of full attention, (B, 1, S, S) or (S, S)."""
        device = self.w_q.weight.device
        place_SS = self._offsets(length, length, device) + self._before(is_causal=is_causal)
        near_SS = (place_SS >= 0) & (place_SS < self.r)
        itself_SS = torch.eye(length, dtype=torch.bool, device=device)
        return near_SS if may_attend is None else may_attend & near_SS | itself_SS

    def _before(self, *, is_causal: bool) -> int:
        """How many positions before its own a position sees."""
        return self.r - 1 if is_causal else self.r // 2

    @staticmethod
    def _offsets(keys: int, queries: int, device: torch.device) -> Tensor:
        """Position of each key relative to each query, (queries, keys)."""
        return torch.arange(keys, device=device) - torch.arange(queries, device=device)[:, None]


def computed_scores(length: int, r: int) -> int:
    """Scores (query times key) that each head computes over `length` positions."""
    return -(-length // r) * r * (2 * r - 1)
