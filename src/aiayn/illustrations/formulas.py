"""What the paper gives as a formula, as tables: positions, masks, learning rates, smoothed labels.

Every number comes from the code that trains, never from the formula written a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import torch

from aiayn.model.masks import may_attend_to_earlier
from aiayn.model.positions import sinusoids
from aiayn.training.loss import smoothed_cross_entropy
from aiayn.training.schedule import learning_rate

Line = Mapping[str, int | float]

D_MODEL, POSITIONS, COMPARED_POSITIONS = 64, 80, 40  # small enough to be seen
MASKED_POSITIONS = 12
SCHEDULES = ((512, 4000), (512, 8000), (256, 4000))  # d_model, warmup_steps
LAST_STEP, STEP_STRIDE = 20_000, 100
PIECES, RIGHT_PIECE, SMOOTHINGS = 8, 2, (0.0, 0.1, 0.2)


def positions() -> Iterator[Line]:
    """Sinusoids (section 3.5) by position and channel."""
    table = sinusoids(POSITIONS, D_MODEL)
    for position, channels in enumerate(table.tolist()):
        for channel, value in enumerate(channels):
            yield {"position": position, "channel": channel, "value": round(value, 4)}


def similarity() -> Iterator[Line]:
    """Cosine of the angle between the encodings of two positions."""
    table = sinusoids(COMPARED_POSITIONS, D_MODEL).double()
    # sin² + cos² is 1 in each of d_model / 2 pairs
    cosines = table @ table.T / (D_MODEL / 2)
    for position, row in enumerate(cosines.tolist()):
        for other, value in enumerate(row):
            yield {"position": position, "other": other, "similarity": round(value, 4)}


def subsequent_mask() -> Iterator[Line]:
    """1 where a position may attend to another (section 3.1), else 0."""
    for position, row in enumerate(may_attend_to_earlier(MASKED_POSITIONS).tolist()):
        for other, may_attend in enumerate(row):
            yield {"position": position, "other": other, "may_attend": int(may_attend)}


def learning_rates() -> Iterator[Line]:
    """Equation 3 for three settings of d_model and warmup_steps."""
    for d_model, warmup_steps in SCHEDULES:
        for step in (1, *range(STEP_STRIDE, LAST_STEP + 1, STEP_STRIDE)):
            rate = learning_rate(step, d_model, warmup_steps)
            yield {
                "d_model": d_model,
                "warmup_steps": warmup_steps,
                "step": step,
                "learning_rate": float(f"{rate:.6g}"),
            }


def smoothed_targets() -> Iterator[Line]:
    """What the loss wants of each piece of a vocabulary of PIECES (section 5.4).

    Read off the gradient of the loss by the logits, which is prediction - target.
    """
    uniform = torch.zeros(1, PIECES)
    for eps_ls in SMOOTHINGS:
        logits = uniform.clone().requires_grad_()
        _loss(logits, eps_ls).backward()  # type: ignore[no-untyped-call]
        assert logits.grad is not None
        targets = torch.softmax(uniform, dim=1) - logits.grad
        for piece, probability in enumerate(targets[0].tolist()):
            yield {"eps_ls": eps_ls, "piece": piece, "probability": round(probability, 4)}


def smoothing_penalty() -> Iterator[Line]:
    """The loss of predictions that grow ever surer of the right piece, the rest evenly spread."""
    for eps_ls in SMOOTHINGS:
        for percent in (*range(2, 99, 2), 99, 99.5, 99.9):
            confidence = percent / 100
            probabilities = torch.full((1, PIECES), (1 - confidence) / (PIECES - 1))
            probabilities[0, RIGHT_PIECE] = confidence
            loss = _loss(probabilities.log(), eps_ls).item()
            yield {"eps_ls": eps_ls, "confidence": confidence, "loss": round(loss, 4)}


FORMULAS: Mapping[str, Callable[[], Iterable[Line]]] = {
    "positions": positions,
    "similarity": similarity,
    "subsequent_mask": subsequent_mask,
    "learning_rates": learning_rates,
    "smoothed_targets": smoothed_targets,
    "smoothing_penalty": smoothing_penalty,
}
"""By the name of their table."""


def _loss(logits_1P: torch.Tensor, eps_ls: float) -> torch.Tensor:
    """Of the right piece; an embedding that is the identity lets the logits through."""
    right = torch.tensor([RIGHT_PIECE])
    loss, _ = smoothed_cross_entropy(logits_1P, torch.eye(PIECES), right, eps_ls=eps_ls, pad=-1)
    return loss
