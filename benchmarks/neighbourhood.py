"""Self-attention within a neighbourhood compared with full attention, as sentences grow.

For each length n, as fractions of full attention: counted FLOPs; peak bytes of the tensors that
operators allocate; CPU seconds of one thread, forward and backward. Measured are the scores, the
sums of values and the output projection; the other projections are the same for both.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import Tensor

from aiayn.model.attention import MultiHeadAttention
from aiayn.model.neighbourhood import NeighbourhoodAttention
from aiayn.profiling.clocks import LiveBytes
from aiayn.profiling.counting import count_with_torch

D_MODEL, HEADS = 512, 8  # the paper's base
WIDTH = D_MODEL // HEADS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=[32 << k for k in range(8)])
    parser.add_argument("--neighbourhoods", type=int, nargs="+", default=[4, 8, 16, 64])
    parser.add_argument("--positions", type=int, default=4096, help="in a batch, whatever n is")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    print("| n | r | FLOPs | bytes | seconds of full | seconds by full |")
    print("| --: | --: | --: | --: | --: | --: |")
    layers = {r: build(r) for r in (None, *chosen.neighbourhoods)}
    for n in chosen.lengths:
        x = torch.randn(max(1, chosen.positions // n), n, D_MODEL)
        seconds = dict.fromkeys(layers, float("inf"))
        for _ in range(chosen.rounds):  # in turns, so that a busy machine is as busy for each
            for r, layer in layers.items():
                seconds[r] = min(seconds[r], clocked(layer, x))
        bytes_ = {r: peak(layer, x) for r, layer in layers.items()}
        flops = {r: counted(r, n) for r in layers}
        for r in layers:
            ratios = [held[r] / held[None] for held in (flops, bytes_, seconds)]
            cells = [f"{n:,}", str(r or "full"), *(f"{ratio:.2f}" for ratio in ratios)]
            print(f"| {' | '.join([*cells[:4], f'{seconds[r]:.3f}', cells[4]])} |", flush=True)


def build(r: int | None) -> MultiHeadAttention:
    if r is None:
        return MultiHeadAttention(D_MODEL, HEADS, WIDTH, WIDTH)
    return NeighbourhoodAttention(D_MODEL, HEADS, WIDTH, WIDTH, r)


def run(layer: MultiHeadAttention, x: Tensor) -> None:
    with torch.no_grad():
        queries, attended = layer.queries_keys_values(x)
    for made in (queries, attended.keys_BHSK, attended.values_BHSV):
        made.requires_grad_()
    layer.attend(queries, attended).sum().backward()  # type: ignore[no-untyped-call]


def clocked(layer: MultiHeadAttention, x: Tensor) -> float:
    begun = time.process_time()
    run(layer, x)
    return time.process_time() - begun


def peak(layer: MultiHeadAttention, x: Tensor) -> int:
    with LiveBytes() as live:
        run(layer, x)
    return int(live.peak)


def counted(r: int | None, n: int) -> int:
    """FLOPs of one sentence's scores and sums of values: the output's projection is taken off."""
    with torch.device("meta"):
        layer = build(r)
        queries, attended = layer.queries_keys_values(torch.empty(1, n, D_MODEL))
        flops, _ = count_with_torch(lambda: layer.attend(queries, attended))
    return int(flops) - 2 * n * D_MODEL**2


if __name__ == "__main__":
    main()
