"""CTranslate2 with the weights of one of our models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiayn.commands.export import to_ctranslate2
from aiayn.config import Model
from aiayn.model.transformer import Transformer


def convert(model: Transformer, row: Model, folder: Path) -> None:
    """Write the model in the format of CTranslate2; a piece is named by its id."""
    to_ctranslate2.write_model(model, row, [str(n) for n in range(len(model.embedding))], folder)


def translate(
    translator: Any, sources: Sequence[Sequence[int]], *, beam: int, alpha: float, longest: int
) -> list[list[int]]:
    """Pieces of the best hypothesis for each source, each source ending in the end symbol."""
    results = translator.translate_batch(
        [[str(piece) for piece in source[:-1]] for source in sources],  # without the end symbol
        beam_size=beam,
        length_penalty=alpha,
        max_decoding_length=longest,
        max_batch_size=32,
    )
    return [[int(piece) for piece in result.hypotheses[0]] for result in results]
