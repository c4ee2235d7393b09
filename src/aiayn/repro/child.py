"""A stage's command as a process: what it says, how far it is, how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from aiayn.records import places, progress
from aiayn.records.progress import Progress

_ERROR = re.compile(r"\w*(Error|Exception|Interrupt)\b.*")


class Child:
    """A running command, in a session of its own: ctrl-C in the terminal does not reach it.

    Args:
        name: its stage.
        command: for a shell.
        environment: on top of our own.
    """

    def __init__(self, name: str, command: str, environment: Mapping[str, str]) -> None:
        self.name = name
        self._begun = time.time()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self._read = 0
        self._error = ""
        self._process = subprocess.Popen(
            # SIGTERM goes to the shell as well: it must wait for the command, which saves
            ["/bin/sh", "-c", f"trap : TERM\n{command}"],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.time() - self._begun

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._process.poll()

    def lines(self) -> list[str]:
        """What it has printed since the last call, in whole lines; once it has ended, all."""
        ended = self.status is not None
        size = os.fstat(self._output.fileno()).st_size
        text = os.pread(self._output.fileno(), size - self._read, self._read)
        if not ended:
            text = text[: text.rfind(b"\n") + 1]
        self._read += len(text)
        lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
        self._error = next(filter(_ERROR.match, reversed(lines)), self._error)
        return lines

    @property
    def reason(self) -> str:
        """Why it failed: the last error among the lines that were read, or else its status."""
        return self._error or f"its command ended with status {self.status}"

    def progress(self) -> Progress | None:
        """How far a training is; None for any other stage, and before the first line."""
        stage, _, run = self.name.partition("@")
        if stage != "train":
            return None
        # an older start may have left another fingerprint's
        found = Path().glob(str(places.progress(places.scratches(run))))
        newest = max(found, key=lambda path: path.stat().st_mtime, default=None)
        if newest is None or newest.stat().st_mtime < self._begun:
            return None
        return progress.read(newest)

    def stop(self, *, at_once: bool = False) -> None:
        """Ask it, and what it has started, to save and end; or end it."""
        if self.status is None:
            os.killpg(self._process.pid, signal.SIGKILL if at_once else signal.SIGTERM)

    def close(self) -> None:
        """Wait for its end, and let go of what it printed."""
        self._process.wait()
        self._output.close()
