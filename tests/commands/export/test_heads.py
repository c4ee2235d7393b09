"""Rows (B) of table 3 with heads of d_model / h: the same function."""

from __future__ import annotations

import pytest
import torch
from tests.commands.export.conftest import Drawn

from aiayn.commands.export.heads import of_usual_width
from aiayn.errors import ConfigError


@pytest.mark.parametrize(("d_k", "d_v"), [(8, 8), (2, 8), (8, 3), (5, 3)])
def test_narrow_heads_filled_up_compute_the_same(drawn: Drawn, d_k: int, d_v: int) -> None:
    model, row = drawn(d_k=d_k, d_v=d_v)
    wide, usual = of_usual_width(model, row, 16)
    assert usual.d_k == usual.d_v == 8
    source, target = torch.randint(4, 40, (3, 7)), torch.randint(4, 40, (3, 5))
    with torch.no_grad():
        torch.testing.assert_close(wide(source, target), model(source, target))


def test_wide_heads_are_refused(drawn: Drawn) -> None:
    model, row = drawn(d_k=16)
    with pytest.raises(ConfigError, match="heads of d_k 16 and d_v 8 cannot be exported") as error:
        of_usual_width(model, row, 16)
    assert "\n" not in str(error.value)
