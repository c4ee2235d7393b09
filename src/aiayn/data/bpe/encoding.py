"""Encoding a task's text as arrays of piece ids, in constant memory and several processes."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from aiayn.data.bpe.vocabulary import Bpe
from aiayn.errors import DataError
from aiayn.files import replaced_folder
from aiayn.results import paths
from aiayn.results import tokens as records
from aiayn.results.paths import SIDES

SPLITS = (paths.TRAIN, paths.DEV)
CHUNK_LINES = 50_000

Array = np.ndarray[Any, Any]
Chunk = bytes  # whole lines
Encoded = tuple[Array, npt.NDArray[np.int64]]  # flat ids with END, length of each sentence


def encode_task(
    text: Path,
    model: Path,
    out: Path,
    processes: int | None = None,
    chunk_lines: int = CHUNK_LINES,
    done: Callable[[int], object] = lambda lines: None,
) -> None:
    """Encode the train and dev splits of a task.

    For each split and side, writes SPLIT.SIDE.npy (concatenated ids, END after every sentence;
    uint16, or uint32 for more than 65,536 pieces) and SPLIT.SIDE.offsets.npy (see `Side`), and
    manifest.json. The bytes do not depend on `processes` or `chunk_lines`.

    Args:
        text: folder of SPLIT.source and SPLIT.target.
        model: sentencepiece model.
        out: folder, replaced as a whole.
        processes: maximum number; default: the processors that this process may use.
        chunk_lines: lines per chunk; a file of one chunk is encoded without starting processes.
        done: called with the number of newly encoded lines.
    Raises:
        DataError: a file is missing, empty or not UTF-8, the sides differ in number of lines, or
            the model is damaged.
    """
    bpe = Bpe(model)
    entries: dict[str, dict[str, records.EncodedSide]] = {}
    workers = processes or _processors()
    with replaced_folder(out) as folder, _Encoder(bpe, model, workers) as encoder:
        for split in SPLITS:
            sides = {
                side: _encode_file(text, folder, split, side, encoder, chunk_lines, done)
                for side in SIDES
            }
            counts = [side.sentences for side in sides.values()]
            if counts[0] != counts[1]:
                raise DataError(
                    f"{text / split}.*: {counts[0]} source lines but {counts[1]} target lines. "
                    "Make them again: dvc repro -f download"
                )
            entries[split] = sides
        manifest = records.TokenManifest(vocabulary=bpe.size, splits=entries)
        records.write(paths.manifest(folder), manifest)


def _encode_file(
    text: Path,
    folder: Path,
    split: str,
    side: str,
    encoder: _Encoder,
    chunk_lines: int,
    done: Callable[[int], object],
) -> records.EncodedSide:
    """Encode one file of the folder `text` into `folder`; returns its entry of the manifest."""
    path = paths.lines(text, split, side)
    arrays = [paths.ids(folder, split, side), paths.offsets(folder, split, side)]
    sentences = tokens = longest = 0
    with (
        _growing_array(arrays[0], encoder.dtype) as write_ids,
        _growing_array(arrays[1], np.dtype(np.int64)) as write_offsets,
    ):
        write_offsets(np.zeros(1, np.int64))
        for ids, lengths in encoder.encode(_chunks(path, chunk_lines), path):
            write_ids(ids)
            write_offsets(tokens + np.cumsum(lengths))
            sentences += len(lengths)
            tokens += len(ids)
            longest = max(longest, int(lengths.max()))
            done(len(lengths))
    if not sentences:
        raise DataError(f"{path}: empty. Make it again: dvc repro -f download")
    return records.EncodedSide(
        sentences=sentences,
        tokens=tokens,
        longest=longest,
        sha256={array.name: _sha256(array) for array in arrays},
    )


def _chunks(path: Path, lines: int) -> Iterator[Chunk]:
    """The file in chunks of `lines` lines; only a newline ends a line."""
    try:
        with path.open("rb") as file:
            while chunk := b"".join(islice(file, lines)):
                yield chunk
    except FileNotFoundError as error:
        raise DataError(f"{path}: does not exist. Make it: dvc repro download") from error


def _processors() -> int:
    """The number of processors that this process may use; on macOS, all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Encoder:
    """Encodes files chunk by chunk, in worker processes if there is more than one chunk.

    Processes are spawned, because forking a process with threads (a progress bar has one) can hang.
    """

    def __init__(self, bpe: Bpe, model: Path, processes: int) -> None:
        self.dtype: np.dtype[Any] = np.dtype(np.uint16 if bpe.size <= 1 << 16 else np.uint32)
        self._bpe, self._model, self._processes = bpe, model, processes
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> _Encoder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def encode(self, chunks: Iterator[Chunk], path: Path) -> Iterator[Encoded]:
        """Encoded chunks in order. At most two chunks per process are in memory."""
        head = list(islice(chunks, 2))
        encode = self._here if len(head) < 2 or self._processes == 1 else self._in_processes
        lines = 0
        try:
            for ids, lengths in encode(chain(head, chunks)):
                yield ids, lengths
                lines += len(lengths)
        except UnicodeDecodeError as error:
            lines += error.object.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{path}: line {lines} is not UTF-8. Make the file again: dvc repro -f download"
            ) from error

    def _here(self, chunks: Iterator[Chunk]) -> Iterator[Encoded]:
        for chunk in chunks:
            yield _encode(self._bpe, chunk, self.dtype)

    def _in_processes(self, chunks: Iterator[Chunk]) -> Iterator[Encoded]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._processes, multiprocessing.get_context("spawn"), _start_worker, (self._model,)
            )
        waiting: deque[Future[Encoded]] = deque()
        for chunk in chunks:
            waiting.append(self._pool.submit(_encode_in_worker, chunk, self.dtype))
            if len(waiting) == 2 * self._processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _encode(bpe: Bpe, chunk: Chunk, dtype: np.dtype[Any]) -> Encoded:
    """A chunk's ids and sentence lengths. Raises UnicodeDecodeError."""
    lines = chunk.decode().removesuffix("\n").split("\n")
    ids = bpe.encode(lines, end=True)
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    flat = np.fromiter(chain.from_iterable(ids), dtype, int(lengths.sum()))
    return flat, lengths


_worker_bpe: Bpe


def _start_worker(model: Path) -> None:
    global _worker_bpe
    _worker_bpe = Bpe(model)


def _encode_in_worker(chunk: Chunk, dtype: np.dtype[Any]) -> Encoded:
    return _encode(_worker_bpe, chunk, dtype)


@contextmanager
def _growing_array(path: Path, dtype: np.dtype[Any]) -> Iterator[Callable[[Array], None]]:
    """Write a one-dimensional .npy file incrementally."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False}
    length = 0
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (0,)})
        begin = file.tell()

        def write(array: Array) -> None:
            nonlocal length
            length += len(array)
            file.write(array.astype(dtype, copy=False).tobytes())

        yield write
        file.seek(0)
        # numpy pads the header so that the length can grow
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (length,)})
        assert file.tell() == begin


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
