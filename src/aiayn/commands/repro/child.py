"""A stage's command as a process: what it says, how far it is, how it ends."""

from __future__ import annotations

import glob
import multiprocessing
import os
import re
import runpy
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from aiayn.results import places, progress
from aiayn.results.progress import Fetching, P, Progress

_ERROR = re.compile(r"\w*(Error|Exception|Interrupt)\b.*")
_SCRIPT = re.compile(r"python [\w./-]+\.py( [\w.@=-]+)*")

# importing torch takes most stages two seconds; a process that has done so once forks them instead
_origin = multiprocessing.get_context("forkserver")
_origin.set_forkserver_preload(["aiayn.commands.repro.origin"])


class Child:
    """A running command, in a session of its own: ctrl-C in the terminal does not reach it.

    A Python script runs as ever, but in a process that has imported torch before; anything else is
    for a shell.

    Args:
        name: its stage.
        command: as in dvc.yaml.
        environment: on top of our own.
    """

    def __init__(self, name: str, command: str, environment: Mapping[str, str]) -> None:
        self.name = name
        self._begun = time.time()
        self._output = tempfile.NamedTemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self._read = 0
        self._error = ""
        if not _SCRIPT.fullmatch(command):
            # SIGTERM goes to the shell as well: it must wait for the command, which saves
            command = f"trap : TERM\n{command}"
        self._process = _origin.Process(
            target=_run, args=(command, self._output.name, {**os.environ, **environment}), name=name
        )
        self._process.start()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.time() - self._begun

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._process.exitcode

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

    def progress(self) -> Progress | Fetching | None:
        """How far a training is, or what a task's text is made of; None for any other stage, and
        before the first line."""
        stage, _, item = self.name.partition("@")
        if stage == "train":
            # an older start may have left another fingerprint's
            return self._newest(places.progress(places.scratches(item)), Progress)
        if stage == "download":
            return self._newest(places.fetching(places.DOWNLOADS, glob.escape(item)), Fetching)
        return None

    def _newest(self, pattern: Path, kind: type[P]) -> P | None:
        """The last that was written of such files, by this process."""
        with suppress(FileNotFoundError):  # a download takes its own away when it is done
            newest = max(Path().glob(str(pattern)), key=_time, default=None)
            if newest is not None and _time(newest) >= self._begun:
                return progress.read(newest, kind)
        return None

    def stop(self, *, at_once: bool = False) -> None:
        """Ask it, and what it has started, to save and end; or end it."""
        process = self._process.pid
        if process is None or self.status is not None:
            return
        number = signal.SIGKILL if at_once else signal.SIGTERM
        try:
            os.killpg(process, number)
        except ProcessLookupError:  # it has no session of its own yet, or has just ended
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def close(self) -> None:
        """Wait for its end, and let go of what it printed."""
        self._process.join()
        self._output.close()


def _time(path: Path) -> float:
    return path.stat().st_mtime


def _run(command: str, output: str, environment: Mapping[str, str]) -> None:
    """What the new process does: become the command, which reads nothing and writes to a file."""
    os.setsid()
    with Path(os.devnull).open("rb") as nothing, Path(output).open("ab") as file:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    if not _SCRIPT.fullmatch(command):
        os.execv("/bin/sh", ["sh", "-c", command])
    _, script, *arguments = command.split(" ")
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent.resolve()))
    runpy.run_path(script, run_name="__main__")
