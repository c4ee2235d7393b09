"""Tables of the paper's formulas: positions, masks, learning rates, smoothed labels.

All numbers are computed by the training code, not by a second implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd
import torch

from aiayn.model.masks import may_attend_to_earlier
from aiayn.model.positions import sinusoids
from aiayn.training.loss import smoothed_cross_entropy
from aiayn.training.schedule import learning_rate

D_MODEL, POSITIONS, COMPARED_POSITIONS = 64, 80, 40  # small enough to be legible
MASKED_POSITIONS = 12
SCHEDULES = ((512, 4000), (512, 8000), (256, 4000))  # d_model, warmup_steps
LAST_STEP, STEP_STRIDE = 20_000, 100
PIECES, RIGHT_PIECE, SMOOTHINGS = 8, 2, (0.0, 0.1, 0.2)
DECIMALS = 4


def positions() -> pd.DataFrame:
    """Sinusoids (section 3.5) by position and channel."""
    return _long(sinusoids(POSITIONS, D_MODEL), "position", "channel", "value")


def similarity() -> pd.DataFrame:
    """Cosine similarity of the encodings of two positions."""
    table = sinusoids(COMPARED_POSITIONS, D_MODEL).double()
    # sin² + cos² is 1 in each of d_model / 2 pairs
    return _long(table @ table.T / (D_MODEL / 2), "position", "other", "similarity")


def subsequent_mask() -> pd.DataFrame:
    """1 where a position may attend to another (section 3.1), else 0."""
    mask = may_attend_to_earlier(MASKED_POSITIONS).int()
    return _long(mask, "position", "other", "may_attend")


def learning_rates() -> pd.DataFrame:
    """Equation 3 for three settings of d_model and warmup_steps."""
    return pd.DataFrame(
        {
            "d_model": d_model,
            "warmup_steps": warmup_steps,
            "step": step,
            "learning_rate": float(f"{learning_rate(step, d_model, warmup_steps):.6g}"),
        }
        for d_model, warmup_steps in SCHEDULES
        for step in (1, *range(STEP_STRIDE, LAST_STEP + 1, STEP_STRIDE))
    )


def smoothed_targets() -> pd.DataFrame:
    """The target probability of each piece in a vocabulary of PIECES (section 5.4), derived from
    the gradient of the loss with respect to the logits, which is prediction - target.
    """
    uniform = torch.zeros(1, PIECES)
    targets = []
    for eps_ls in SMOOTHINGS:
        logits = uniform.clone().requires_grad_()
        _loss(logits, eps_ls).backward()  # type: ignore[no-untyped-call]
        assert logits.grad is not None
        targets.append((torch.softmax(uniform, dim=1) - logits.grad)[0])
    table = _long(torch.stack(targets), "eps_ls", "piece", "probability")
    return table.assign(eps_ls=[SMOOTHINGS[row] for row in table["eps_ls"]])


def smoothing_penalty() -> pd.DataFrame:
    """The loss by confidence in the right piece, with the remaining probability spread evenly."""
    rows = []
    for eps_ls in SMOOTHINGS:
        for percent in (*range(2, 99, 2), 99, 99.5, 99.9):
            confidence = percent / 100
            probabilities = torch.full((1, PIECES), (1 - confidence) / (PIECES - 1))
            probabilities[0, RIGHT_PIECE] = confidence
            loss = _loss(probabilities.log(), eps_ls).item()
            rows.append((eps_ls, confidence, round(loss, DECIMALS)))
    return pd.DataFrame(rows, columns=["eps_ls", "confidence", "loss"])


FORMULAS: Mapping[str, Callable[[], pd.DataFrame]] = {
    "positions": positions,
    "similarity": similarity,
    "subsequent_mask": subsequent_mask,
    "learning_rates": learning_rates,
    "smoothed_targets": smoothed_targets,
    "smoothing_penalty": smoothing_penalty,
}
"""By the name of the table."""


def _loss(logits_1P: torch.Tensor, eps_ls: float) -> torch.Tensor:
    """The loss for the right piece; the embedding is the identity, so states equal logits."""
    right = torch.tensor([RIGHT_PIECE])
    loss, _ = smoothed_cross_entropy(logits_1P, torch.eye(PIECES), right, eps_ls=eps_ls, pad=-1)
    return loss


def _long(matrix: torch.Tensor, row: str, column: str, value: str) -> pd.DataFrame:
    """A matrix in long format: row, column and rounded value of each cell."""
    cells = [
        (r, c, round(cell, DECIMALS))
        for r, cells in enumerate(matrix.tolist())
        for c, cell in enumerate(cells)
    ]
    return pd.DataFrame(cells, columns=[row, column, value])
