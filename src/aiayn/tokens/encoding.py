"""From a task's text to arrays of piece ids, with flat memory and as many processes as are free."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from aiayn.errors import DataError
from aiayn.files import replaced_folder
from aiayn.tokens.arrays import MANIFEST, SIDES
from aiayn.tokens.bpe import END, Bpe

SPLITS = ("train", "dev")
CHUNK_LINES = 50_000

Array = np.ndarray[Any, Any]
Chunk = list[bytes]
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

    For each split and side, writes SPLIT.SIDE.npy (flat ids, END after every sentence; uint16, or
    uint32 for a vocabulary above 65,535) and SPLIT.SIDE.offsets.npy (see `Side`), and
    manifest.json. The bytes do not depend on `processes` or `chunk_lines`.

    Args:
        text: folder of SPLIT.source and SPLIT.target.
        model: sentencepiece model.
        out: folder, replaced as a whole.
        processes: at most so many encode; default: the processors this process may use.
        chunk_lines: a file of no more lines is encoded without starting processes.
        done: told how many more lines are encoded.
    Raises:
        DataError: a file is missing, empty or not UTF-8, sides differ in number of lines, or the
            model is damaged.
    """
    bpe = Bpe(model)
    entries: dict[str, Any] = {}
    workers = processes or len(os.sched_getaffinity(0))
    with replaced_folder(out) as folder, _Encoder(bpe, model, workers) as encoder:
        for split in SPLITS:
            sides = {
                side: _encode_file(text / f"{split}.{side}", folder, encoder, chunk_lines, done)
                for side in SIDES
            }
            counts = [side["sentences"] for side in sides.values()]
            if counts[0] != counts[1]:
                raise DataError(
                    f"{text / split}.*: {counts[0]} source lines but {counts[1]} target lines. "
                    "Make them again: dvc repro -f download"
                )
            entries[split] = sides
        manifest = {"vocabulary": bpe.size, "splits": entries}
        content = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
        (folder / MANIFEST).write_text(content, encoding="utf-8")


def _encode_file(
    path: Path, folder: Path, encoder: _Encoder, chunk_lines: int, done: Callable[[int], object]
) -> dict[str, Any]:
    """Encode one file into `folder`; returns its entry of the manifest."""
    arrays = [folder / f"{path.name}.npy", folder / f"{path.name}.offsets.npy"]
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
    return {
        "sentences": sentences,
        "tokens": tokens,
        "longest": longest,
        "sha256": {array.name: _sha256(array) for array in arrays},
    }


def _chunks(path: Path, lines: int) -> Iterator[Chunk]:
    """Lines without their ends; only a newline ends a line."""
    try:
        with path.open("rb") as file:
            while chunk := [line.removesuffix(b"\n") for line in islice(file, lines)]:
                yield chunk
    except FileNotFoundError as error:
        raise DataError(f"{path}: not there. Make it: dvc repro download") from error


class _Encoder:
    """Encodes chunks in order: the first of a file here, further ones in processes of its own.

    Processes are spawned, not forked: forking a process that holds threads (a progress bar has
    one) can hang.
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
        """Encoded chunks in order. At most two chunks for every process are in memory."""
        first, second = next(chunks, None), next(chunks, None)
        line = 0
        for encoded in self._in_order([c for c in (first, second) if c], chunks):
            if isinstance(encoded, int):
                raise DataError(
                    f"{path}: line {line + encoded + 1} is not UTF-8. "
                    "Make the file again: dvc repro -f download"
                )
            yield encoded
            line += len(encoded[1])

    def _in_order(self, head: list[Chunk], tail: Iterator[Chunk]) -> Iterator[Encoded | int]:
        if len(head) < 2 or self._processes == 1:
            for chunk in (*head, *tail):
                yield _encode(self._bpe, chunk, self.dtype)
            return
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._processes, multiprocessing.get_context("spawn"), _start_worker, (self._model,)
            )
        waiting: deque[Future[Encoded | int]] = deque()
        for chunk in _chain(head, tail):
            waiting.append(self._pool.submit(_encode_in_worker, chunk, self.dtype))
            if len(waiting) == 2 * self._processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _chain(head: list[Chunk], tail: Iterator[Chunk]) -> Iterator[Chunk]:
    yield from head
    yield from tail


def _encode(bpe: Bpe, chunk: Chunk, dtype: np.dtype[Any]) -> Encoded | int:
    """A chunk's ids, or the number of its first line that is not UTF-8."""
    lines = []
    for number, line in enumerate(chunk):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            return number
    ids = bpe.encode(lines)
    lengths = np.fromiter(map(len, ids), np.int64, len(ids)) + 1
    flat = np.empty(lengths.sum(), dtype)
    begin = 0
    for sentence, length in zip(ids, lengths.tolist(), strict=True):
        flat[begin : begin + length - 1] = sentence
        begin += length
    flat[np.cumsum(lengths) - 1] = END
    return flat, lengths


_worker_bpe: Bpe


def _start_worker(model: Path) -> None:
    global _worker_bpe
    _worker_bpe = Bpe(model)


def _encode_in_worker(chunk: Chunk, dtype: np.dtype[Any]) -> Encoded | int:
    return _encode(_worker_bpe, chunk, dtype)


@contextmanager
def _growing_array(path: Path, dtype: np.dtype[Any]) -> Iterator[Callable[[Array], None]]:
    """A flat .npy file that is written piece by piece."""
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
        # numpy leaves room in the header for the length to grow
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (length,)})
        assert file.tell() == begin


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
