"""BLEU's n-gram counts of every sentence of a comparison: comparisons/sentences.csv.gz.

Together with the histories and manifests they suffice to recompute every test of the comparison,
without the weights or the text.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from aiayn.errors import ScoreError
from aiayn.files import write_atomically
from aiayn.results.json_files import file_error

ORDERS = 4
COLUMNS = ("words", "reference_words", *(f"matched_{order}" for order in range(1, ORDERS + 1)))

Counts = npt.NDArray[np.int64]
"""[sentences, COLUMNS]: lengths in words, and the matched n-grams of each order."""


class Output(NamedTuple):
    """The output of a run for a split in one of paths.DECODING_MODES."""

    run: str
    split: str
    mode: str


def write(path: Path, counts: Mapping[Output, Counts]) -> None:
    """Write the counts, one line per sentence."""
    frames = [
        pd.DataFrame(dict(zip(Output._fields, output, strict=True)), index=range(len(rows))).assign(
            **{column: rows[:, n] for n, column in enumerate(COLUMNS)}
        )
        for output, rows in counts.items()
    ]
    table = pd.concat(frames) if frames else pd.DataFrame(columns=[*Output._fields, *COLUMNS])
    text = table.to_csv(index=False, lineterminator="\n")
    write_atomically(path, gzip.compress(text.encode(), mtime=0))


def read(path: Path) -> dict[Output, Counts]:
    """The counts of every output, sentences in the order of its file.

    Raises:
        ScoreError: the file is missing or damaged.
    """
    try:
        text = gzip.decompress(path.read_bytes()).decode()
        types = dict.fromkeys(Output._fields, "str") | dict.fromkeys(COLUMNS, "int64")
        table = pd.read_csv(io.StringIO(text), dtype=types, keep_default_na=False)
        groups = table.groupby([*Output._fields], sort=False)
        return {Output(*map(str, key)): rows[list(COLUMNS)].to_numpy() for key, rows in groups}
    except FileNotFoundError as cause:
        raise _file_error(path, "there is no such file.") from cause
    except (OSError, EOFError, ValueError, KeyError) as cause:
        raise _file_error(path, f"not a table of {', '.join(COLUMNS)} by sentence.") from cause


_file_error = file_error(ScoreError, lambda path: "compare")
