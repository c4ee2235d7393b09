"""`python`, `dvc`, `aiayn` and `torchrun` without the seconds that importing torch, MLflow and DVC takes.

One process imports these, once. Programs of these names, in a folder to be put on PATH, run in its forks: with their
folder, environment, streams, signals and exit code, and with the modules of aiayn that the environment's PYTHONPATH
names. Tests of starting, of process trees and of what an environment does to
an interpreter use `sys.executable`.
"""

from __future__ import annotations

import atexit
import json
import os
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from aiayn.tracking.store import DEFAULT_ENVIRONMENT

HERE = Path(__file__).parent
PROGRAMS = ("python", "aiayn", "dvc", "torchrun")
# of the tests, not of what they start
NOT_INHERITED = ("PYTHONPATH", "TQDM_DISABLE", "AIAYN_MIRROR", "MLFLOW_TRACKING_URI")


@cache
def folder() -> Path:
    """The programs' folder. The first call starts the process, which ends, and removes the folder, when this
    one has ended."""
    place = Path(tempfile.mkdtemp(prefix="aiayn-"))
    address = str(place / "socket")
    client = [sys.executable, "-IS", str(HERE / "client.py"), address, sys.executable]
    for name in PROGRAMS:
        (place / name).write_text(f'#!/bin/sh\nexec {shlex.join([*client, name])} "$@"\n')
        (place / name).chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    # MLflow reads some of its settings when it is imported
    environment = {**inherited, **DEFAULT_ENVIRONMENT, "OMP_NUM_THREADS": "1"}
    names = ("PYTHON", "LANG", "LC_", "OMP_")  # what the client compares
    settings = {name: value for name, value in environment.items() if name.startswith(names)}
    Path(f"{address}.settings").write_text(json.dumps(settings))
    server = subprocess.Popen(
        [sys.executable, str(HERE / "server.py"), address, str(place)], env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    atexit.register(server.communicate)
    return place


def python() -> str:
    """What to use in place of sys.executable."""
    return str(folder() / "python")
