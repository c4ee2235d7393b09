"""Random sequences for the copy task."""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Iterator

from aiayn.config import Sequences


def sequences(spec: Sequences) -> Iterator[str]:
    """Yield `spec.number` different sequences of letters, separated by spaces.

    Lengths are uniform from `shortest` to `longest`, except that there may be too few different
    short sequences. The same spec gives the same sequences on every machine.
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
    """A sequence's split, from its digest: 1/16 is dev, 1/16 test."""
    digest = hashlib.sha256(sequence.encode()).digest()
    return {0: "dev", 1: "test"}.get(digest[0] % 16, "train")
