"""Word by word: what a hypothesis has that the reference has not, and the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum


class Mark(Enum):
    """How a run of words of the two sentences compares."""

    SAME = "same"
    ADDED = "added"  # stands in the hypothesis alone
    MISSING = "missing"  # stands in the reference alone


@dataclass(frozen=True)
class Words:
    """Neighbouring words of one kind, separated by spaces."""

    text: str
    mark: Mark


def differences(reference: str, hypothesis: str) -> tuple[Words, ...]:
    """What leads from the reference to the hypothesis, missing words before added ones."""
    return tuple(_differences(reference.split(), hypothesis.split()))


def _differences(reference: list[str], hypothesis: list[str]) -> Iterator[Words]:
    matcher = SequenceMatcher(None, reference, hypothesis, autojunk=False)
    for kind, r_begin, r_end, h_begin, h_end in matcher.get_opcodes():
        if kind == "equal":
            yield Words(" ".join(hypothesis[h_begin:h_end]), Mark.SAME)
            continue
        if r_begin < r_end:
            yield Words(" ".join(reference[r_begin:r_end]), Mark.MISSING)
        if h_begin < h_end:
            yield Words(" ".join(hypothesis[h_begin:h_end]), Mark.ADDED)
