"""A split's sentence pairs as memory-mapped arrays of piece ids."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aiayn.errors import DataError
from aiayn.results import paths, tokens
from aiayn.results.paths import SIDES

Ids = np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]
Lengths = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One side of a split.

    ids: the concatenated pieces of all sentences, each followed by END, uint16 or uint32.
    offsets: (sentences + 1,) int64; sentence i is ids[offsets[i] : offsets[i + 1]].
    """

    ids: Ids
    offsets: Lengths

    @property
    def lengths(self) -> Lengths:
        """Pieces of each sentence, including END: (sentences,) int64."""
        return np.diff(self.offsets)

    def sentence(self, i: int) -> Ids:
        """Ids of sentence `i`, including END."""
        return self.ids[self.offsets[i] : self.offsets[i + 1]]


@dataclass(frozen=True)
class TokenArrays:
    """The pairs of a split; `vocabulary` is the number of pieces."""

    source: Side
    target: Side
    vocabulary: int

    @classmethod
    def open(cls, folder: Path, split: str) -> TokenArrays:
        """The split (train or dev) of a folder that `encode_task` wrote.

        Raises:
            DataError: a file is missing or damaged, or the sides differ in length.
        """
        vocabulary = tokens.read(paths.manifest(folder)).vocabulary
        source, target = (_open_side(folder, split, side) for side in SIDES)
        if len(source.offsets) != len(target.offsets):
            raise _damaged(
                folder / split,
                f"{len(source.offsets) - 1} source and {len(target.offsets) - 1} target sentences",
            )
        return cls(source, target, vocabulary)

    def __len__(self) -> int:
        return len(self.source.offsets) - 1

    @property
    def lengths(self) -> tuple[Lengths, Lengths]:
        """Pieces of each source and each target sentence, including END."""
        return self.source.lengths, self.target.lengths

    def pair(self, i: int) -> tuple[Ids, Ids]:
        """Source and target ids of pair `i`, including END."""
        return self.source.sentence(i), self.target.sentence(i)


def _open_side(folder: Path, split: str, side: str) -> Side:
    ids = _open_array(paths.ids(folder, split, side), "uint16", "uint32")
    offsets = _open_array(paths.offsets(folder, split, side), "int64")
    if (
        not len(offsets)
        or offsets[0] != 0
        or offsets[-1] != len(ids)
        or (np.diff(offsets) < 1).any()
    ):
        raise _damaged(paths.offsets(folder, split, side), f"it does not divide {len(ids)} ids")
    return Side(ids, offsets)


def _open_array(path: Path, *types: str) -> np.ndarray[Any, Any]:
    try:
        # asarray: the same mapped memory, without numpy.memmap's slow indexing
        array = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError as error:
        raise DataError(f"{path}: does not exist. Make it: dvc repro encode") from error
    except (ValueError, EOFError) as error:
        raise _damaged(path, "not a whole .npy file") from error
    if array.ndim != 1 or array.dtype.name not in types:
        raise _damaged(path, f"{array.ndim} dimensions of {array.dtype.name}")
    return array


def _damaged(path: Path, what: str) -> DataError:
    return DataError(f"{path}: damaged ({what}). Make it again: dvc repro -f encode")
