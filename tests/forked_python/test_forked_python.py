"""A forked program sees what one started by the interpreter sees, and ends as it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.forked_python import programs

SHOWS = """
import json, os, signal, sys
import aiayn, torch
mask = os.umask(0)
print(json.dumps({
    "argv": sys.argv, "folder": os.getcwd(), "environment": dict(os.environ), "mask": mask,
    "path": sys.path, "aiayn": aiayn.__file__, "name": __name__, "file": __file__, "input": sys.stdin.read(),
    "signals": [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGCHLD, signal.SIGTERM)],
    "bytecode": sys.dont_write_bytecode,
}, sort_keys=True))
print("to standard error", file=sys.stderr)
"""
# what has each its own end: an exit code, a message, an error, a signal
ENDS = {
    "falls through": "print('done')",
    "a code": "import sys; print('out'); sys.exit(3)",
    "a message": "import sys; sys.exit('Wrong.')",
    "an error": "1 / 0",
    "a signal": "import os; os.kill(os.getpid(), 15)",
    "a hard end": "import os; os.kill(os.getpid(), 9)",
    "at exit": "import atexit; atexit.register(print, 'last')",
    "another program": "import os; os.execvp('sh', ['sh', '-c', 'echo replaced; exit 7'])",
    "a thread": "import threading; threading.Timer(0.2, print, ['later']).start()",
}


def run(python: str, folder: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    # what a shell, which starts the forked one, would set
    settings = {"OMP_NUM_THREADS": "1", "PWD": str(folder)}
    done = subprocess.run(
        [python, *arguments], cwd=folder, env={**os.environ, **settings, **environment},
        input="typed", capture_output=True, text=True, check=False,
    )  # fmt: skip
    # a traceback begins with the server's own calls
    return done.returncode, done.stdout, done.stderr.splitlines()[-1] if done.stderr else ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a package aiayn of its own, and scripts."""
    (tmp_path / "src/aiayn").mkdir(parents=True)
    (tmp_path / "src/aiayn/__init__.py").touch()
    (tmp_path / "shows.py").write_text(SHOWS)
    return tmp_path


@pytest.mark.parametrize(
    "arguments", [("shows.py", "a", "-b"), ("-m", "shows", "a"), ("-B", "-u", "shows.py")]
)
def test_it_sees_what_a_start_of_its_own_would(folder: Path, arguments: tuple[str, ...]) -> None:
    settings = {"PYTHONPATH": str(folder / "src"), "TQDM_DISABLE": "1", "MINE": "1 2"}
    forked = run(programs.python(), folder, *arguments, **settings)
    assert forked == run(sys.executable, folder, *arguments, **settings)
    assert forked[0] == 0
    assert str(folder / "src/aiayn/__init__.py") in forked[1]
    assert forked[2] == "to standard error"


@pytest.mark.parametrize("end", ENDS)
def test_it_ends_alike(folder: Path, end: str) -> None:
    (folder / "ends.py").write_text(ENDS[end])
    assert run(programs.python(), folder, "ends.py") == run(sys.executable, folder, "ends.py")


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(("-c", "import sys; print(sys.executable)"), {}), (("a.py",), {"PYTHONHASHSEED": "1"}), (("a.py",), {"OMP_NUM_THREADS": "2"})],
)  # fmt: skip
def test_what_only_a_start_reads_gets_one(
    folder: Path, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    (folder / "a.py").write_text("import sys; print(sys.executable)")
    _, printed, _ = run(programs.python(), folder, *arguments, **environment)
    assert printed == f"{sys.executable}\n"


@pytest.mark.parametrize(
    ("number", "printed"), [(signal.SIGTERM, "stopped\n"), (signal.SIGKILL, "")]
)
def test_a_signal_to_the_program_reaches_it(folder: Path, number: int, printed: str) -> None:
    """Also one that leaves it no time to pass it on."""
    (folder / "waits.py").write_text(
        "import os, signal, sys, time\n"
        "signal.signal(15, lambda *_: sys.exit('stopped'))\n"
        "print(os.getpid(), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [programs.python(), "waits.py"], cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        forked = int(process.stdout.readline())
        assert forked != process.pid
        process.send_signal(number)
        _, shown = process.communicate(timeout=30)
    assert shown == printed
    assert process.returncode == (1 if number == signal.SIGTERM else -number)
    until = time.monotonic() + 30
    while psutil.pid_exists(forked):
        assert time.monotonic() < until, "the program outlives its client"
        time.sleep(0.05)
