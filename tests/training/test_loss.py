"""The loss compared with torch's own, in value and gradient."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode

from aiayn.training import loss as loss_module
from aiayn.training.loss import plain_smoothed_cross_entropy, smoothed_cross_entropy


@pytest.mark.parametrize("eps_ls", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("chunk_bytes", [1, 8 << 20])
def test_equals_torch(eps_ls: float, chunk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_BYTES", chunk_bytes)
    torch.manual_seed(0)
    states = torch.randn(20, 8, requires_grad=True)
    embedding = torch.randn(31, 8, requires_grad=True)
    targets = torch.randint(1, 31, (20,))
    targets[[3, 4, 19]] = 0
    ours, nll = smoothed_cross_entropy(states, embedding, targets, eps_ls=eps_ls, pad=0)
    (ours / 17).backward()
    gradients = states.grad, embedding.grad
    states.grad = embedding.grad = None
    logits = states @ embedding.T
    theirs = cross_entropy(logits, targets, ignore_index=0, label_smoothing=eps_ls)
    theirs.backward()
    torch.testing.assert_close(ours / 17, theirs)
    torch.testing.assert_close(nll, cross_entropy(logits, targets, ignore_index=0, reduction="sum"))
    torch.testing.assert_close(gradients[0], states.grad)
    torch.testing.assert_close(gradients[1], embedding.grad)


@pytest.mark.parametrize("eps_ls", [0.0, 0.1, 0.4])
def test_equals_the_formula(eps_ls: float) -> None:
    """In value and in both gradients, except at padding."""
    torch.manual_seed(1)
    states = torch.randn(20, 8, requires_grad=True)
    embedding = torch.randn(31, 8, requires_grad=True)
    targets = torch.randint(1, 31, (20,))
    targets[[0, 7]] = 0
    gradients = []
    fast, _ = smoothed_cross_entropy(states, embedding, targets, eps_ls=eps_ls, pad=0)
    losses = plain_smoothed_cross_entropy(states @ embedding.T, targets, eps_ls=eps_ls)
    plain = losses[targets != 0].sum()
    for loss in (fast, plain):
        gradients.append(torch.autograd.grad(loss, (states, embedding)))
    torch.testing.assert_close(fast, plain)
    torch.testing.assert_close(gradients[0], gradients[1])


def test_the_formula_by_hand() -> None:
    """Probabilities 1/2, 1/4, 1/4 and eps 0.3: 0.8 ln 2 + 2 * 0.1 * ln 4 where the first is right."""
    logits = torch.tensor([[0.5, 0.25, 0.25]]).log()
    loss = plain_smoothed_cross_entropy(logits, torch.tensor([0]), eps_ls=0.3)
    assert loss.item() == pytest.approx(0.8 * math.log(2) + 0.2 * math.log(4))


def test_five_words_by_hand() -> None:
    """Logits 0 for five words: every word has probability 1/5 whatever the smoothing."""
    loss, nll = smoothed_cross_entropy(
        torch.zeros(2, 3), torch.ones(5, 3), torch.tensor([1, 4]), eps_ls=0.4, pad=0
    )
    assert loss.item() == pytest.approx(2 * math.log(5))
    assert nll.item() == pytest.approx(2 * math.log(5))


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
def test_a_very_unlikely_target(scale: float) -> None:
    """Its probability, exp(-300) at the second scale, is 0 in float32; its logarithm is not."""
    states, embedding = torch.eye(3), scale * torch.tensor([[0.0], [-5.0], [5.0]]).expand(3, 3)
    targets = torch.tensor([1, 2, 1])
    loss, nll = smoothed_cross_entropy(states, embedding, targets, eps_ls=0.1, pad=0)
    logits = (states @ embedding.T).double()
    expected = cross_entropy(logits, targets, reduction="sum", label_smoothing=0.1)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    assert nll.item() == pytest.approx(cross_entropy(logits, targets, reduction="sum").item())


def test_nothing_but_padding_is_zero() -> None:
    states = torch.randn(3, 4, requires_grad=True)
    embedding = torch.randn(5, 4, requires_grad=True)
    loss, _ = smoothed_cross_entropy(
        states, embedding, torch.zeros(3, dtype=torch.int64), eps_ls=0.1, pad=0
    )
    loss.backward()
    assert loss.item() == 0
    assert states.grad is not None
    assert states.grad.abs().sum().item() == 0


def test_no_gradient_is_computed_where_none_is_needed() -> None:
    """Validation: one product for the logits, 2 N D V operations, and not the gradients' two."""
    embedding = torch.randn(5, 4, requires_grad=True)  # requires gradients, but not here
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        loss, _ = smoothed_cross_entropy(
            torch.randn(3, 4), embedding, torch.tensor([1, 2, 3]), eps_ls=0.1, pad=0
        )
    assert not loss.requires_grad
    assert counter.get_total_flops() == 2 * 3 * 4 * 5
