"""A label among the pieces of a vocabulary: the target of a task that classifies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from aiayn.data.tokens.arrays import Side, TokenArrays
from aiayn.data.tokens.special import END
from aiayn.errors import DataError

# words of the target that are one piece each come after the special pieces, in order
FIRST = END + 1


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels as the vocabulary has them: number n is the piece FIRST + n."""
    return sorted(labels)


def count(arrays: TokenArrays) -> int:
    """How many labels the targets of `labels_alone` tell apart."""
    return int(arrays.target.ids.max()) - FIRST + 1


def labels_alone(arrays: TokenArrays) -> TokenArrays:
    """The same pairs with one piece for a target, the label: it needs no end.

    Raises:
        DataError: a target is something else than one label.
    """
    offsets = arrays.target.offsets
    ids = arrays.target.ids[offsets[:-1]]
    if (np.diff(offsets) != 2).any() or (ids < FIRST).any():
        raise DataError(
            "the target side holds something else than a label for each sentence. "
            "Make it again: dvc repro -f download"
        )
    return replace(arrays, target=Side(ids, np.arange(len(ids) + 1)))
