"""Progress of all downloads of a task: a bar in a terminal, and a file for other processes."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from tqdm import tqdm

from aiayn.results import progress
from aiayn.results.progress import Fetching

WINDOW_SECONDS = 30.0  # over which the rate is averaged


class Meter:
    """Shows progress; on leaving the context, removes the bar and the file.

    Args:
        file: for other processes; None for no file.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._bar: tqdm[NoReturn] | None = None
        self._seen: deque[tuple[float, int]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        if self._file is not None and self._seen:
            self._file.unlink(missing_ok=True)

    def show(self, files: int, files_in_all: int, here: int, in_all: int) -> None:
        """Show the numbers of files and bytes that are complete, and of all."""
        now = time.monotonic()
        self._seen.append((now, here))
        while now - self._seen[0][0] > WINDOW_SECONDS:
            self._seen.popleft()
        if self._file is not None:
            progress.write(self._file, Fetching(files, files_in_all, here, in_all, self._rate()))
        if self._bar is None:
            self._bar = tqdm(
                desc="downloads", initial=here, total=in_all, unit="B", unit_scale=True,
                disable=None,
            )  # fmt: skip
        self._bar.total = in_all
        self._bar.set_postfix_str(f"{files} of {files_in_all} files", refresh=False)
        self._bar.update(here - self._bar.n)

    def _rate(self) -> float:
        """Bytes per second over the last half minute."""
        (begun, at_first), (ended, at_last) = self._seen[0], self._seen[-1]
        # another process may have deleted a file
        return max(at_last - at_first, 0) / (ended - begun) if ended > begun else 0.0
