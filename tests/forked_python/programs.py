"""`python`, `dvc` and `aiayn` without the seconds that importing torch, MLflow and DVC takes.

A process imports these once. Programs beside each other in a folder, for PATH, have it run what they are asked
for in a fork: with their folder, environment, streams, signals and exit code, and with the modules of aiayn that
the environment's PYTHONPATH names. Tests of starting, of process trees and of what an environment does to
an interpreter use `sys.executable`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from aiayn.tracking.store import DEFAULT_ENVIRONMENT

HERE = Path(__file__).parent
PROGRAMS = ("python", "aiayn", "dvc")


class ForkedPython:
    """The folder of programs; the process behind them starts when it is first asked for."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._folder = Path()

    @property
    def folder(self) -> Path:
        """The programs' folder, to be put first on a PATH."""
        if self._server is None:
            self._folder = Path(tempfile.mkdtemp(prefix="aiayn-"))
            self._write_programs()
            self._server = self._start()
        return self._folder

    @property
    def python(self) -> str:
        """The program to use in place of sys.executable."""
        return str(self.folder / "python")

    def _write_programs(self) -> None:
        client = [sys.executable, "-IS", str(HERE / "client.py"), str(self._socket), sys.executable]
        for name in PROGRAMS:
            program = self._folder / name
            program.write_text(f'#!/bin/sh\nexec {shlex.join([*client, name])} "$@"\n')
            program.chmod(0o755)

    @property
    def _socket(self) -> Path:
        return self._folder / "socket"

    def _start(self) -> subprocess.Popen[str]:
        settings = ("PYTHONPATH", "TQDM_DISABLE", "AIAYN_MIRROR", "MLFLOW_TRACKING_URI")
        inherited = {name: value for name, value in os.environ.items() if name not in settings}
        server = subprocess.Popen(
            [sys.executable, str(HERE / "server.py"), str(self._socket), str(self._folder)],
            # MLflow reads some of its settings when it is imported
            env={**inherited, **DEFAULT_ENVIRONMENT, "OMP_NUM_THREADS": "1"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        return server

    def close(self) -> None:
        """End the process."""
        if self._server is not None:
            self._server.communicate()
            assert self._server.returncode == 0
            self._server = None
            shutil.rmtree(self._folder)
