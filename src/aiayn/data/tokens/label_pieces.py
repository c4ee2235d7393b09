"""Labels as pieces of the vocabulary: the targets of a classification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from aiayn.data.tokens.arrays import Side, TokenArrays
from aiayn.data.tokens.special import END
from aiayn.errors import DataError

# with `symbols: target`, the target's words follow the special pieces, in order
FIRST = END + 1


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels in the order of the vocabulary: label n is the piece FIRST + n."""
    return sorted(labels)


def count(arrays: TokenArrays) -> int:
    """The number of labels, from the targets of `labels_alone`."""
    return int(arrays.target.ids.max()) - FIRST + 1


def labels_alone(arrays: TokenArrays) -> TokenArrays:
    """The same pairs with targets of one piece, the label, without END.

    Raises:
        DataError: a target is not a single label.
    """
    offsets = arrays.target.offsets
    ids = arrays.target.ids[offsets[:-1]]
    if (np.diff(offsets) != 2).any() or (ids < FIRST).any():
        raise DataError(
            "the target side is not one label per sentence. Make it again: dvc repro -f download"
        )
    return replace(arrays, target=Side(ids, np.arange(len(ids) + 1)))
