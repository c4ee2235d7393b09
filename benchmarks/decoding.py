"""Decoding speed compared with a plain search and, if installed, CTranslate2, in alternation.

All have the weights of a trained run of params.yaml and translate its test set: the plain search
without a cache, by running the decoder over whole prefixes at each step; CTranslate2 (pip install
'.[bench]') with one worker per thread, and with one worker for all threads. The plain search stops
as ours does; CTranslate2 stops when as many hypotheses as the beam is wide have ended, as we do
with `stop: beam`, and its length penalty is length^alpha. Loading weights and BPE are left out.
Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from benchmarks.widening import widened
from torch import nn

from aiayn import config
from aiayn.config import Decoding
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END, PAD, START
from aiayn.decoding.beam import beam_search, length_penalty
from aiayn.decoding.weights import load_model
from aiayn.errors import one_line_errors
from aiayn.model.checkpoints import load_weights
from aiayn.model.device import Device, open_device
from aiayn.model.transformer import Transformer
from aiayn.results import paths
from aiayn.results.text import read_lines

PLAIN_BATCH = 64  # sentences
OURS = "aiayn"
Outputs = list[list[int]]


@dataclass(frozen=True)
class Work:
    """What is decoded, by which weights, how wide, and with how many threads."""

    run: str
    sentences: int
    widen: int
    threads: int


@torch.inference_mode()
def plain_search(model: Transformer, sources: Outputs, decoding: Decoding) -> Outputs:
    """The same beam search written down plainly: no cache, whole prefixes at every step."""
    outputs: Outputs = [[] for _ in sources]
    order = sorted(range(len(sources)), key=lambda n: -len(sources[n]))
    for first in range(0, len(order), PLAIN_BATCH):
        batch = order[first : first + PLAIN_BATCH]
        padded = [torch.tensor(sources[n]) for n in batch]
        source = nn.utils.rnn.pad_sequence(padded, batch_first=True)
        limits = [len(sources[n]) - 1 + decoding.extra_length for n in batch]
        last = [length_penalty(limit + 1, decoding.alpha) for limit in limits]
        best, beam = [float("-inf")] * len(batch), decoding.beam
        source = source.repeat_interleave(beam, dim=0)
        pieces = torch.empty(len(batch), beam, 0, dtype=torch.int64)
        total = torch.full((len(batch), beam), float("-inf"))
        total[:, 0] = 0.0
        is_open = torch.ones(len(batch), dtype=torch.bool)
        while is_open.any():
            length = pieces.shape[2] + 1
            start = torch.full((len(batch), beam, 1), START)
            prefixes = torch.cat((start, pieces), dim=2).flatten(0, 1)
            states = model.states(source, prefixes)[:, -1]
            logits = model.logits(states).view(len(batch), beam, -1)
            logits[..., [PAD, START]] = float("-inf")
            every = total[..., None] + logits.log_softmax(2)
            for row, limit in enumerate(limits):
                if length > limit:
                    every[row, :, :END] = every[row, :, END + 1 :] = float("-inf")
            totals, places_ = every.flatten(1).topk(2 * beam)
            origin, piece = places_ // every.shape[2], places_ % every.shape[2]
            for row in is_open.nonzero()[:, 0].tolist():
                for w in range(beam):
                    score = totals[row, w].item() / length_penalty(length, decoding.alpha)
                    if piece[row, w] == END and score > best[row]:
                        best[row] = score
                        outputs[batch[row]] = pieces[row, origin[row, w]].tolist()
            keep = torch.sort((piece == END).int(), dim=1, stable=True).indices[:, :beam]
            total, newest = totals.gather(1, keep), piece.gather(1, keep)
            origin = origin.gather(1, keep)
            rows = origin + torch.arange(len(batch))[:, None] * beam
            pieces = torch.cat((pieces.flatten(0, 1)[rows], newest[:, :, None]), dim=2)
            for row, (limit, penalty) in enumerate(zip(limits, last, strict=True)):
                is_open[row] &= length <= limit and best[row] < total[row, 0].item() / penalty
    return outputs


@contextmanager
def decoder(who: str, work: Work) -> Iterator[Callable[[], Outputs]]:
    """What decodes the sentences once."""
    params = config.load()
    row, task = params.model_of(work.run), params.run(work.run).task
    decoding = params.task(task).search
    threads = work.threads
    device = Device(torch.device("cpu"), "float32")
    if who.startswith(OURS):
        device = open_device("cpu", "float32", d_model=row.d_model * work.widen, threads=threads)
    torch.set_num_threads(threads)
    bpe = Bpe(paths.bpe_model(paths.vocabulary(task)))
    weights = paths.averaged(paths.model(work.run))
    model, row = widened(load_model(weights, row, bpe.size, device), row, work.widen)
    lines = read_lines(paths.lines(paths.text(task), paths.TEST, "source"))[: work.sentences]
    sources = [[*pieces, END] for pieces in bpe.encode(lines)]
    if who == "plain":
        yield lambda: plain_search(model, sources, decoding)
    elif who.startswith(OURS):
        if who != OURS:
            decoding = decoding.replace(stop="beam")
        yield lambda: [h.pieces for h in beam_search(model, sources, decoding, device)]
    else:
        import ctranslate2
        from benchmarks.peer import convert, translate

        workers, each = (int(word) for word in who.split()[1].split("x"))
        with tempfile.TemporaryDirectory() as name:
            convert(model, row, Path(name))
            translator = ctranslate2.Translator(
                name, compute_type="float32", inter_threads=workers, intra_threads=each
            )
        longest = max(map(len, sources)) - 1 + decoding.extra_length
        beam, alpha = decoding.beam, decoding.alpha
        yield lambda: translate(translator, sources, beam=beam, alpha=alpha, longest=longest)


def serve(who: str, work: Work, turns: Connection) -> None:
    """A separate process, so that none runs under another's settings: it decodes on request, and
    answers with wall-clock seconds, CPU seconds and the outputs.
    """
    with decoder(who, work) as decode:
        turns.send("ready")
        while turns.recv():
            begun, busy = time.perf_counter(), time.process_time()
            outputs = decode()
            turns.send((time.perf_counter() - begun, time.process_time() - busy, outputs))


@one_line_errors
def main() -> None:
    params = config.load()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", default=params.illustrations.run, help="a trained run")
    parser.add_argument("--sentences", type=int, default=1000, help="of the test set, the first")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--widen", type=int, default=1, help="a model so many times as wide, of the same outputs"
    )
    arguments = vars(parser.parse_args())
    rounds = arguments.pop("rounds")
    work = Work(**arguments)
    load_weights(paths.averaged(paths.model(work.run)))  # or one line says how to get them
    row, threads = params.model_of(work.run), work.threads
    contenders = ["plain", OURS, f"{OURS}, stop: beam"]
    if importlib.util.find_spec("ctranslate2") and row.d_k == row.d_v == row.d_model // row.h:
        contenders += sorted({f"ctranslate2 {threads}x1", f"ctranslate2 1x{threads}"})
    context = multiprocessing.get_context("spawn")
    turns: dict[str, Connection] = {}
    workers = []
    for who in contenders:
        turns[who], theirs = context.Pipe()
        workers.append(context.Process(target=serve, args=(who, work, theirs), daemon=True))
        workers[-1].start()
        theirs.close()
        turns[who].recv()
    seconds: dict[str, list[tuple[float, float]]] = {who: [] for who in contenders}
    outputs: dict[str, Outputs] = {}
    for _ in range(rounds):
        for who, turn in turns.items():
            turn.send(True)
            wall, busy, outputs[who] = turn.recv()
            seconds[who].append((wall, busy))
    for turn, worker in zip(turns.values(), workers, strict=True):
        turn.send(False)
        worker.join()
    count = len(outputs[OURS])
    print(
        f"{work.run}, {work.widen} times as wide: N {row.N}, d_model {row.d_model * work.widen}; "
    )
    print(f"{count} sentences, torch {torch.__version__}, {threads} threads, {rounds} rounds\n")
    print("| | sentences/s | by CPU time, a second | our speed by theirs | the same outputs |")
    print("| --- | --- | --- | --- | --- |")
    for who, theirs_ in seconds.items():
        wall, busy = (statistics.median(times) for times in zip(*theirs_, strict=True))
        pairs = zip(theirs_, seconds[OURS], strict=True)
        ratio = statistics.median(their[0] / our[0] for their, our in pairs)
        same = sum(a == b for a, b in zip(outputs[who], outputs[OURS], strict=True))
        print(f"| {who} | {count / wall:.0f} | {count / busy:.0f} | {ratio:.2f} | {same} |")


if __name__ == "__main__":
    main()
