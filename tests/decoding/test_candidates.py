"""The best extensions compared with all of them, sorted."""

from __future__ import annotations

import pytest
import torch

from aiayn.data.tokens.special import END, PAD, START
from aiayn.decoding.candidates import GROUP, NEVER, NextPieces

BEAM, NUMBER, WIDTH = 3, 6, 8


@pytest.mark.parametrize("vocabulary", [7, GROUP, 5 * GROUP + 1])
def test_best_are_the_best_of_all_extensions(vocabulary: int) -> None:
    torch.manual_seed(vocabulary)
    embedding, states = torch.randn(vocabulary, WIDTH), torch.randn(4, BEAM, WIDTH)
    total = -torch.rand(4, BEAM)
    total[1, 1:] = NEVER  # has only one hypothesis
    total[2, 0] = -50.0
    only_end = torch.tensor([False, False, False, True])
    found = NextPieces(embedding).best(states, total, NUMBER, only_end)
    logits = states @ embedding.t()
    logits[..., [PAD, START]] = NEVER
    all_totals = total[..., None] + logits.log_softmax(2)
    all_totals[3, :, :END] = all_totals[3, :, END + 1 :] = NEVER
    best = all_totals.flatten(1).topk(NUMBER, dim=1)
    torch.testing.assert_close(found.total_BC, best.values)
    for row in range(4):
        possible = int((best.values[row] > NEVER).sum())
        assert possible == (BEAM if row == 3 else min(NUMBER, vocabulary - 2 if row == 1 else 99))
        index = found.origin_BC[row] * vocabulary + found.piece_BC[row]
        assert index[:possible].tolist() == best.indices[row, :possible].tolist()
    assert found.piece_BC.max() < vocabulary, "all of them have an embedding"


def test_missing_extensions_have_no_probability() -> None:
    """One hypothesis has fewer extensions than requested, as in a wide beam's first step."""
    embedding, number = torch.randn(7, WIDTH), 2 * GROUP
    found = NextPieces(embedding).best(torch.randn(2, 1, WIDTH), torch.zeros(2, 1), number)
    assert (found.total_BC > NEVER).sum(dim=1).tolist() == [5, 5], "all but padding and start"
    for column in (found.total_BC, found.origin_BC, found.piece_BC):
        assert column.shape == (2, number)


def test_logits_are_computed_for_live_hypotheses_alone() -> None:
    """A dropped hypothesis costs nothing: not even NaN in its states is read."""
    states = torch.randn(2, BEAM, WIDTH)
    total = torch.tensor([[0.0, NEVER, NEVER], [-1.0, -2.0, NEVER]])
    next_pieces = NextPieces(torch.randn(40, WIDTH))
    expected = next_pieces.best(states, total, NUMBER)
    states[total == NEVER] = float("nan")
    found = next_pieces.best(states, total, NUMBER)
    torch.testing.assert_close(found.total_BC, expected.total_BC)
    assert torch.equal(found.piece_BC, expected.piece_BC)
