"""Self-attention restricted to a neighbourhood (section 4)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from aiayn.model.attention import MultiHeadAttention


class RestrictedSelfAttention(MultiHeadAttention):
    """Each position attends to `r` positions around its own: r // 2 before it, itself, the rest
    after it. Paper: section 4; table 1, last row.

    The windows are cut out of the keys and values, so that no n x n matrix ever exists. Exactly
    r n h (d_k + d_v) multiply-adds in attention, whatever n is (a place outside the sequence is
    computed, then masked), and 2 n d h (d_k + d_v) in the four projections.
    """

    def __init__(self, d_model: int, h: int, d_k: int, d_v: int, r: int) -> None:
        super().__init__(d_model, h, d_k, d_v)
        self.r = r
        self.scale = d_k**-0.5

    def forward(self, x_BND: Tensor) -> Tensor:
        """(B, N, D) to (B, N, D)."""
        queries_BHNK, attended = self.queries_keys_values(x_BND)
        keys_BHNKR = self._windows(attended.keys_BHSK)
        values_BHNVR = self._windows(attended.values_BHSV)
        scores_BHN1R = self.scale * queries_BHNK[..., None, :] @ keys_BHNKR
        inside_NR = self._windows(x_BND.new_ones(1, 1, x_BND.shape[1], 1))[0, 0, :, 0] > 0
        scores_BHN1R = scores_BHN1R.masked_fill(~inside_NR[:, None], float("-inf"))
        heads_BHN1V = scores_BHN1R.softmax(dim=-1) @ values_BHNVR.transpose(-1, -2)
        out: Tensor = self.w_o(heads_BHN1V.squeeze(-2).transpose(1, 2).flatten(2))
        return out

    def _windows(self, x_BHNK: Tensor) -> Tensor:
        """The r positions around each, (B, H, N, K, R); zeros outside the sequence."""
        before = self.r // 2
        padded = functional.pad(x_BHNK, (0, 0, before, self.r - 1 - before))
        return padded.unfold(2, self.r, 1)
