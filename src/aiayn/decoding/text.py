"""Sentences in, sentences out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aiayn.config import Decoding
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END
from aiayn.decoding.beam import beam_search
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer


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
        done: called with the number of further finished sentences.
    """  # fmt: skip
    words = [n for n, sentence in enumerate(sentences) if sentence.strip()]
    sources = [[*pieces, END] for pieces in bpe.encode([sentences[n] for n in words])]
    hypotheses = beam_search(model, sources, decoding, device, done)
    outputs = [""] * len(sentences)
    for n, text in zip(words, bpe.decode([h.pieces for h in hypotheses]), strict=True):
        # byte pieces can form a newline, which would shift all lines after it
        outputs[n] = " ".join(text.split("\n"))
    return outputs
