"""Has `server.py` run a program, and ends as it does: SOCKET PYTHON PROGRAM ARGUMENT ...

What needs a process of its own is run by PYTHON. Where the standard library has modules that are slow to
import, such as pathlib, this does without.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
OPTIONS = {"-B", "-m", "-u"}


def needs_a_start(program: str, arguments: list[str], address: str) -> bool:
    """Whether only a new interpreter will do: for its options, or because settings that it reads when it
    starts are not those of the server."""
    first = next((one for one in arguments if one not in OPTIONS), "-")
    if program == "python" and first.startswith("-"):
        return True
    with open(f"{address}.settings") as file:  # noqa: PTH123
        settings = json.load(file)
    names = ("PYTHON", "LANG", "LC_", "OMP_")
    here = {name: value for name, value in os.environ.items() if name.startswith(names)}
    here.pop("PYTHONPATH", None)
    return bool(here != settings)


def main() -> None:
    address, python, program, *arguments = sys.argv[1:]
    if needs_a_start(program, arguments, address):
        script = python.removesuffix(os.path.basename(python)) + program  # noqa: PTH119
        before = [] if program == "python" else [script]
        os.execv(python, [python, *before, *arguments])
    mask = os.umask(0)
    os.umask(mask)
    request = {
        "program": program, "arguments": arguments, "folder": os.getcwd(),  # noqa: PTH109
        "environment": {**os.environ},
        "umask": mask,
    }  # fmt: skip
    with socket.socket(socket.AF_UNIX) as server:
        signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
        server.connect(address)
        message = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(server, [message], [0, 1, 2])
        server.sendall(message[sent:])
        for number in FORWARDED:
            signal.signal(number, lambda number, frame: server.send(bytes([number])))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        status = server.recv(4)
    if not status:
        sys.exit("The server of tests/forked_python has ended.")
    code = os.waitstatus_to_exitcode(int.from_bytes(status, "big"))
    if code < 0:
        if -code in FORWARDED:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
