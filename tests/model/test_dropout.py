"""Our dropout drops the right share, keeps the mean, and does nothing in evaluation."""

from __future__ import annotations

import pytest
import torch

from aiayn.model.dropout import Dropout


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_share_and_scale(p: float) -> None:
    torch.manual_seed(0)
    x = torch.ones(1000, 1003)
    y = Dropout(p)(x)
    dropped = (y == 0).double().mean().item()
    # five standard deviations of a binomial share
    assert dropped == pytest.approx(p, abs=5 * (p * (1 - p) / x.numel()) ** 0.5)
    assert y.max().item() == pytest.approx(1 / (1 - p), rel=1e-4)
    assert y.double().mean().item() == pytest.approx(1, abs=5e-3)


def test_nearly_everything_can_be_dropped() -> None:
    assert Dropout(1 - 1e-7)(torch.ones(100)).isfinite().all()


def test_neighbours_are_independent() -> None:
    """Four neighbours come from one random number; they must still be independent."""
    torch.manual_seed(0)
    kept = (Dropout(0.5)(torch.ones(4_000_000)) != 0).double().view(-1, 4) - 0.5
    correlation = (kept.T @ kept) / len(kept) / 0.25
    assert (correlation - torch.eye(4)).abs().max().item() < 0.005


def test_gradients_pass_where_values_do() -> None:
    torch.manual_seed(0)
    x = torch.ones(5, 7, requires_grad=True)
    y = Dropout(0.4)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_evaluation_and_zero_are_the_identity() -> None:
    x = torch.randn(3, 4)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_the_mask_depends_on_the_seed() -> None:
    x = torch.ones(64)
    outputs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        outputs.append(Dropout(0.5)(x))
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])
