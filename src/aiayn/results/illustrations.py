"""The data of the figures that explain the model: tables as CSV, and attention maps."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from aiayn.errors import DataError
from aiayn.files import write_atomically
from aiayn.results.json_files import JsonFile, file_error, read_bytes
from aiayn.validation import Items, StrictModel, nearest

FORMAT = 1

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "positions": ("position", "channel", "value"),
    "similarity": ("position", "other", "similarity"),
    "subsequent_mask": ("position", "other", "may_attend"),
    "learning_rates": ("d_model", "warmup_steps", "step", "learning_rate"),
    "smoothed_targets": ("eps_ls", "piece", "probability"),
    "smoothing_penalty": ("eps_ls", "confidence", "loss"),
    "heads": ("attention", "layer", "head", "distance", "entropy"),
}
"""The columns of each table, documented by the functions of illustrations/ that compute them. The
distance of cross-attention heads is empty."""

KINDS = ("encoder", "decoder", "cross")
"""Encoder self-attention, decoder self-attention, and cross-attention."""

Matrix = Items[Items[float]]


class AttentionMaps(StrictModel):
    """Attention weights over one sentence and its translation by a run.

    `source` and `target` are pieces, the first of the target being the start symbol; `maps` has
    the weights by kind, layer, head, query and key.
    """

    run: str
    task: str
    sentence: str
    translation: str
    source: Items[str]
    target: Items[str]
    maps: Mapping[str, Items[Items[Matrix]]]

    def queries(self, kind: str) -> Sequence[str]:
        """The pieces that attend."""
        return self.source if kind == "encoder" else self.target

    def keys(self, kind: str) -> Sequence[str]:
        """The pieces that are attended to."""
        return self.target if kind == "decoder" else self.source

    def layers(self, kind: str) -> Sequence[Sequence[Matrix]]:
        """Weights by layer, head, query and key."""
        return self.maps[kind]

    def frame(self, kind: str) -> pd.DataFrame:
        """A row for each weight of a kind: layer and head (from 1), index and text of the attending
        piece (query) and of the attended piece (key), and the weight, from 0 to 1."""
        queries, keys = self.queries(kind), self.keys(kind)
        weights = [
            (layer, head, query, queries[query], key, keys[key], weight)
            for layer, heads in enumerate(self.layers(kind), 1)
            for head, matrix in enumerate(heads, 1)
            for query, row in enumerate(matrix)
            for key, weight in enumerate(row)
        ]
        columns = ["layer", "head", "query", "query_piece", "key", "key_piece", "weight"]
        return pd.DataFrame(weights, columns=columns)


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table of COLUMNS; the stem of `path` is its name."""
    write_atomically(path, table.to_csv(index=False, lineterminator="\n"))


def read_table(path: Path) -> pd.DataFrame:
    """Read a table of COLUMNS; the stem of `path` is its name.

    Raises:
        DataError: the file is missing, a column is missing or unknown, or a line is truncated.
    """
    content = read_bytes(path, _file_error)
    try:
        table = pd.read_csv(io.BytesIO(content))
    except ValueError as error:
        raise _file_error(path, f"not CSV ({' '.join(str(error).split())}).") from error
    columns = COLUMNS[path.stem]
    for column in table:
        if column not in columns:
            raise _file_error(path, f"{column!r} is not a column.{nearest(str(column), columns)}")
    for column in columns:
        if column not in table:
            raise _file_error(path, f"the column {column} is missing.")
    empty = table.drop(columns="distance", errors="ignore").isna().any(axis=1)
    if empty.any():
        raise _file_error(
            path, f"line {empty.to_list().index(True) + 2} has an empty cell, or is truncated."
        )
    return table


def read_attention(path: Path, kinds: Sequence[str] = KINDS) -> AttentionMaps:
    """The attention maps of a sentence.

    Args:
        kinds: the required kinds: all, or only the encoder's for a classifier.
    Raises:
        DataError: the file is missing or is not attention maps, or the numbers of weights and
            pieces differ.
    """
    found = _ATTENTION.read(path)
    for kind in kinds:
        if kind not in found.maps:
            raise _file_error(path, f"maps.{kind} is missing.")
        queries, keys = found.queries(kind), found.keys(kind)
        for layer in found.maps[kind]:
            for head in layer:
                if len(head) != len(queries) or {len(row) for row in head} != {len(keys)}:
                    raise _file_error(path, f"maps.{kind}: not a weight for each pair of pieces.")
    return found


_file_error = file_error(DataError, lambda path: "illustrate")
_ATTENTION = JsonFile(AttentionMaps, _file_error)
write_attention = _ATTENTION.write
