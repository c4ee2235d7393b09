"""Sentences in, sentences out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from aiayn.compute.device import Device
from aiayn.config import Decoding
from aiayn.decoding.beam import beam_search
from aiayn.errors import DataError
from aiayn.model.transformer import Transformer
from aiayn.tokens.bpe import END, Bpe


def read_sentences(path: Path) -> list[str]:
    """The lines of a file, without their ends; only a newline ends a line.

    Raises:
        DataError: the file is missing or is not UTF-8.
    """
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError as error:
        raise DataError(
            f"{path}: not there. Run the stage that writes it: dvc repro download"
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: not UTF-8 at byte {error.start}. Make it again: dvc repro download"
        ) from error
    return text.removesuffix("\n").split("\n") if text else []


def write_sentences(path: Path, sentences: Sequence[str]) -> None:
    """One a line."""
    path.write_text(
        "".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8", newline=""
    )


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
        done: told how many more sentences are finished.
    """  # fmt: skip
    words = [n for n, sentence in enumerate(sentences) if sentence.strip()]
    sources = [[*pieces, END] for pieces in bpe.encode([sentences[n] for n in words])]
    hypotheses = beam_search(model, sources, decoding, device, done)
    outputs = [""] * len(sentences)
    for n, text in zip(words, bpe.decode([h.pieces for h in hypotheses]), strict=True):
        # a newline can come out of byte pieces, and would shift every line after it
        outputs[n] = " ".join(text.split("\n"))
    return outputs
