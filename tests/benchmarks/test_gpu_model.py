"""The model of a GPU's step: bytes and seconds of an operator, and the tables."""

from __future__ import annotations

import pytest
import torch
from benchmarks.gpu_check import BIG
from benchmarks.gpu_model import GPUS, SHORTEST, Step, seconds_of, tables
from benchmarks.gpu_operators import Operator, Recorder
from torch import Tensor
from torch.nn.functional import embedding

H100 = GPUS["H100"]


def operators(*tensors: Tensor) -> dict[str, Operator]:
    """Of big: a product of the last two of three tensors (2, 3), (64, 1024), (1024, 4096), and others."""
    with Recorder(BIG) as recorder:
        first, second, third = tensors
        (second @ third).relu()
        first.expand(5, 2, 3).sum()
        embedding(torch.zeros(7, dtype=torch.int64), second)
        third.view(4096, 1024)
    return {operator.name: operator for operator in recorder.operators}


def test_bytes_and_flops_of_operators() -> None:
    found = operators(torch.ones(2, 3), torch.ones(64, 1024), torch.ones(1024, 4096))
    assert found["mm"].flops == 2 * 64 * 1024 * 4096
    assert found["mm"].bytes == 4 * (64 * 1024 + 1024 * 4096 + 64 * 4096)
    assert found["sum"].bytes == 4 * (2 * 3 + 1)
    assert found["embedding"].bytes == 2 * 4 * 7 * 1024 + 8 * 7
    assert "view" not in found
    assert (found["mm"].kind, found["relu"].kind) == (
        "other products",
        "relu and gradients of biases",
    )


def test_the_slowest_of_traffic_products_and_kernels() -> None:
    def seconds(kernels: int, bytes_moved: int, flops: int) -> float:
        return seconds_of(Operator("", "", kernels, bytes_moved, flops, torch.bfloat16), H100)

    assert seconds(3, 1, 1) == 3 * SHORTEST
    assert seconds(1, 2_700_000_000, 1) == pytest.approx(1e-3)
    assert seconds(1, 1, 650_000_000_000) == pytest.approx(1e-3)


def test_the_tables() -> None:
    product = Operator("other products", "mm", 1, 10**9, 65 * 10**11, torch.bfloat16)
    step = Step([product, product], processes=8, summed=360_000_000)
    totals, kinds = "\n".join(tables({("base", 8, 8): step})).split("\n\nbase, 8 GPUs:\n\n")
    # 2 x 10 ms and 2 x 7/8 x 1 ms
    assert totals.endswith("| base, 8 GPUs | 2 | 2.0 | 13.00 | 21.8 | 60% | 59.3 | 70% |")
    assert kinds.splitlines()[2:] == [
        "| other products | 2 | 2.00 | 20.00 | 56.52 |",
        "| sum over the GPUs | | | 1.75 | 2.74 |",
    ]
