"""Training speed compared with a plain torch.nn.Transformer loop, in alternating steps of one run.

All see the same batches: lengths like Multi30k's, 8,000 pieces, 2,048 target tokens a step,
float32; with --bfloat16 ours also in that precision, if the CPU supports it. The plain loop is a
straightforward one: nn.Transformer, tied embeddings, dropout, cross_entropy with label
smoothing, Adam. Prints a Markdown table; tokens are real target tokens.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np
import torch
from torch import Tensor, nn

from aiayn.config import Adam, Model, Training
from aiayn.data.tokens.arrays import Side, TokenArrays
from aiayn.model.device import Device, open_device
from aiayn.training.job import Job
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

VOCABULARY = 8000
WARM_UP_STEPS = 8  # until the allocator has seen every shape
SMALL = Model(
    N=3,
    d_model=256,
    d_ff=1024,
    h=4,
    d_k=64,
    d_v=64,
    P_drop=0.1,
    eps_ls=0.1,
    steps=1,
    positions="sinusoid",
    average=1,
    checkpoint_steps=1,
)
MODELS = {
    "tiny": SMALL.replace(N=4, d_model=128, d_ff=256, d_k=32, d_v=32, P_drop=0.3),
    "small": SMALL,
    "base": SMALL.replace(N=6, d_model=512, d_ff=2048, h=8),
}
PLAIN, OURS, BFLOAT16 = "plain", "aiayn", "aiayn, bfloat16"
TRAINING = Training(
    batch_tokens=2048, micro_batches=1, max_length=256, warmup_steps=4000, learning_rate_scale=1.0,
    adam=Adam(beta1=0.9, beta2=0.98, epsilon=1e-9),
    validation_steps=1, log_steps=1,
)  # fmt: skip


class PlainTransformer(nn.Module):
    """nn.Transformer between tied embeddings."""

    def __init__(self, row: Model) -> None:
        super().__init__()
        self.scale = row.d_model**0.5
        self.embedding = nn.Embedding(VOCABULARY, row.d_model)
        nn.init.normal_(self.embedding.weight, std=1 / self.scale)
        self.positions = nn.Embedding(256, row.d_model)
        self.dropout = nn.Dropout(row.P_drop)
        self.transformer = nn.Transformer(
            row.d_model, row.h, row.N, row.N, row.d_ff, row.P_drop, batch_first=True
        )
        self.project = nn.Linear(row.d_model, VOCABULARY, bias=False)
        self.project.weight = self.embedding.weight

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        is_padding = source == 0
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        states = self.transformer(
            self._embed(source), self._embed(target), tgt_mask=causal, tgt_is_causal=True,
            src_key_padding_mask=is_padding, memory_key_padding_mask=is_padding,
        )  # fmt: skip
        logits: Tensor = self.project(states)
        return logits

    def _embed(self, ids: Tensor) -> Tensor:
        place = torch.arange(ids.shape[1])
        embedded: Tensor = self.dropout(self.embedding(ids) * self.scale + self.positions(place))
        return embedded


def synthetic_tokens(pairs: int) -> TokenArrays:
    """Random ids with lengths like those of image captions: mean about 15 pieces."""
    random = np.random.default_rng(0)
    source = np.clip(random.lognormal(2.65, 0.3, pairs), 3, 60).astype(np.int64)
    target = np.clip(source * random.lognormal(0.03, 0.15, pairs), 3, 60).astype(np.int64)
    sides = []
    for lengths in (source, target):
        ids = random.integers(4, VOCABULARY, int(lengths.sum()), dtype=np.uint16)
        sides.append(Side(ids, np.concatenate(([0], np.cumsum(lengths)))))
    return TokenArrays(sides[0], sides[1], VOCABULARY)


def plain_step(row: Model, trainer: Trainer) -> Callable[[], None]:
    """One step of the plain loop, over the batches that the trainer would take."""
    torch.manual_seed(0)
    model = PlainTransformer(row)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def step() -> None:
        batch = trainer.plan.step(trainer.step_number)[0]
        source, target = trainer.tensors(trainer.train_arrays, batch)
        optimizer.zero_grad()
        shifted = torch.cat((target.new_full((len(target), 1), 2), target[:, :-1]), dim=1)
        logits = model(source, shifted)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=row.eps_ls
        )
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        trainer.step_number += 1

    return step


def work(who: str, row: Model, turns: Connection) -> None:
    """A separate process, so that neither loop runs under the other's settings; it takes a step on
    request and answers with seconds and tokens.
    """
    warnings.simplefilter("ignore")
    device = (
        Device(torch.device("cpu"), "float32")
        if who == PLAIN
        else open_device("cpu", "float32" if who == OURS else "bfloat16", d_model=row.d_model)
    )
    arrays = synthetic_tokens(20_000)
    trainer = Trainer(
        Job(who, "translation", row, TRAINING, 1, "", ""), arrays, arrays, device, Processes()
    )
    step = plain_step(row, trainer) if who == PLAIN else trainer.step
    while turns.recv():
        batch = trainer.plan.step(trainer.step_number)
        tokens = sum(int(arrays.lengths[1][micro.indices].sum()) for micro in batch)
        begun = time.perf_counter()
        step()
        turns.send((time.perf_counter() - begun, tokens))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["small", "base"])
    parser.add_argument("--bfloat16", action="store_true", help="ours in that precision too")
    arguments = parser.parse_args()
    steps = arguments.steps
    loops = [PLAIN, OURS, *([BFLOAT16] if arguments.bfloat16 else [])]
    context = multiprocessing.get_context("spawn")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {steps} steps each\n")
    print("| model | loop | tokens/s | speed by the plain loop's | by ours in float32 |")
    print("| --- | --- | --- | --- | --- |")
    for name in arguments.models:
        turns: dict[str, Connection] = {}
        workers = []
        for who in loops:
            turns[who], theirs = context.Pipe()
            workers.append(context.Process(target=work, args=(who, MODELS[name], theirs)))
            workers[-1].start()
        results: dict[str, list[tuple[float, int]]] = {who: [] for who in turns}
        for _ in range(WARM_UP_STEPS + steps):
            for who, turn in turns.items():
                turn.send(True)
                results[who].append(turn.recv())
        for turn, worker in zip(turns.values(), workers, strict=True):
            turn.send(False)
            worker.join()
        counted = {who: rows[WARM_UP_STEPS:] for who, rows in results.items()}
        for who, rows in counted.items():
            speed = sum(t for _, t in rows) / sum(s for s, _ in rows)
            by = [
                statistics.median(
                    theirs[0] / own[0] for theirs, own in zip(counted[other], rows, strict=True)
                )
                for other in (PLAIN, OURS)
            ]
            print(f"| {name} | {who} | {speed:.0f} | {by[0]:.2f} | {by[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
