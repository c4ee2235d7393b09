"""Translation of sentences: encoding, beam search, decoding to text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aiayn.config import Decoding
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.decoding.beam import n_best
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer


@dataclass(frozen=True)
class Output:
    """A hypothesis as text, its score as in Hypothesis, and its length in pieces."""

    text: str
    score: float
    pieces: int


def translate(
    model: Transformer,
    bpe: Bpe,
    sentences: Sequence[str],
    decoding: Decoding,
    device: Device,
    done: Callable[[int], object] = lambda sentences: None,
) -> list[str]:
    """The best hypothesis for each sentence; an empty sentence gives an empty one.

    Args:
        model: in evaluation mode, on `device`.
        done: called with the number of newly finished sentences.
    """  # fmt: skip
    found = n_best_outputs(model, bpe, sentences, decoding, device, 1, done)
    return [outputs[0].text if outputs else "" for outputs in found]


def n_best_outputs(
    model: Transformer,
    bpe: Bpe,
    sentences: Sequence[str],
    decoding: Decoding,
    device: Device,
    n: int,
    done: Callable[[int], object] = lambda sentences: None,
) -> list[list[Output]]:
    """The n best hypotheses for each sentence, best first; none for an empty sentence."""
    words = [number for number, sentence in enumerate(sentences) if sentence.strip()]
    sources = bpe.encode([sentences[number] for number in words], end=True)
    found = n_best(model, sources, decoding, device, n, done)
    every = [(number, h) for number, best in zip(words, found, strict=True) for h in best]
    outputs: list[list[Output]] = [[] for _ in sentences]
    for (number, h), text in zip(every, bpe.decode([h.pieces for _, h in every]), strict=True):
        # byte pieces can form a newline, which would shift all lines that follow
        outputs[number].append(Output(" ".join(text.split("\n")), h.score, len(h.pieces)))
    return outputs
