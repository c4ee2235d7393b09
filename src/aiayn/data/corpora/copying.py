"""Random sequences to be copied, the usual first test of a sequence-to-sequence model."""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Iterator

from aiayn.config import Sequences


def sequences(spec: Sequences) -> Iterator[str]:
    """Yield `spec.number` different sequences: letters with a space between any two.

    Lengths from `shortest` to `longest` are equally likely, except short ones, of which there may
    be too few. The same spec gives the same sequences on every machine.
    """
    draw = random.Random(spec.seed).random  # the same in every version of Python
    lengths = range(spec.shortest, spec.longest + 1)
    seen: set[str] = set()
    while len(seen) < spec.number:
        length = lengths[int(draw() * len(lengths))]
        symbols = (string.ascii_lowercase[int(draw() * spec.symbols)] for _ in range(length))
        sequence = " ".join(symbols)
        if sequence not in seen and _split(sequence) == spec.split:
            seen.add(sequence)
            yield sequence


def _split(sequence: str) -> str:
    """A sequence's split follows from the sequence: of 16, one is for dev and one for test."""
    digest = hashlib.sha256(sequence.encode()).digest()
    return {0: "dev", 1: "test"}.get(digest[0] % 16, "train")
