"""Runs Python programs in forks of a process that has imported what takes long, and nothing of aiayn.

python server.py SOCKET FOLDER: `client.py` connects to the socket, sends what a fork takes over (`Request`)
with its standard streams, and then the numbers of signals to pass on; it receives the wait status. `FOLDER`
holds the programs that call the client (programs.py).
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import NoReturn, TypedDict

IMPORTS = (
    "alembic.command", "configobj", "dulwich.index", "dulwich.worktree", "dvc.cachemgr", "dvc.cli.parser",
    "dvc.data_cloud", "dvc.repo", "dvc.repo.data", "dvc.repo.metrics.show", "dvc.repo.open_repo", "dvc.repo.plots",
    "dvc.repo.reproduce", "dvc.rwlock", "dvc.ui.table", "dvc.utils.strictyaml", "dvc_data.hashfile.db.local",
    "dvc_data.hashfile.status", "flufl.lock", "fvcore.nn", "hydra", "jinja2", "matplotlib.backends.backend_svg",
    "mlflow", "mlflow.pyfunc", "mlflow.store.model_registry.sqlalchemy_store",
    "mlflow.store.tracking.sqlalchemy_store", "networkx", "pandas", "psutil", "pydantic", "pygit2", "requests",
    "ruamel.yaml", "sacrebleu", "sacremoses", "safetensors.torch", "scipy.stats", "sentencepiece",
    "sqlalchemy.dialects.sqlite", "torch", "torch._dynamo", "torch.distributed.run", "torch.utils.flop_counter",
)  # fmt: skip
BIN = Path(sys.executable).parent


class Request(TypedDict):
    """What is not inherited by a fork of the server, but would be by a new process.

    `program` is `python`, whose `arguments` are -B, -u, and SCRIPT ... or -m MODULE ...; or the name of a script
    in the interpreter's folder, and `arguments` are the script's.
    """

    program: str
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    umask: int


def serve(socket_path: str, folder: Path) -> None:
    """Run requests until standard input is closed."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wakes)
    running: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(socket_path)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            clients = {connection: pid for pid, connection in running.items()}
            waited_for: list[int | socket.socket] = [0, woken, listening, *clients]
            ready, *_ = select.select(waited_for, [], [])
            if 0 in ready:
                for pid in running:
                    os.kill(pid, signal.SIGKILL)
                return
            if woken in ready:
                os.read(woken, 4096)
            for connection in clients.keys() & {*ready}:
                # a client that was killed takes its program along
                (number,) = connection.recv(1) or [signal.SIGKILL]
                os.kill(clients[connection], number)
            for pid in [*running]:
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    with running.pop(pid) as connection, suppress(BrokenPipeError):
                        connection.sendall(status.to_bytes(4, "big"))
            if listening in ready:
                connection, _ = listening.accept()
                message, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
                while not message.endswith(b"\n") and (more := connection.recv(1 << 20)):
                    message += more
                if not message.endswith(b"\n"):  # the client was killed
                    connection.close()
                    continue
                pid = os.fork()
                if pid == 0:
                    become(json.loads(message), streams, folder)
                running[pid] = connection
                for stream in streams:
                    os.close(stream)


def become(request: Request, streams: list[int], folder: Path) -> NoReturn:
    """Run the program that is requested, in this process and with these standard streams."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["folder"])
    os.umask(request["umask"])
    if differs_for_tqdm(request["environment"]):
        for name in [name for name in sys.modules if name.partition(".")[0] == "tqdm"]:
            del sys.modules[name]
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.executable = str(folder / "python")
    code = 1
    try:
        code = exit_code_of(request["program"], request["arguments"])
    finally:
        os._exit(code)


def differs_for_tqdm(environment: dict[str, str]) -> bool:
    """Whether tqdm, which reads its variables when it is imported, would behave otherwise."""
    here, there = (
        {name: value for name, value in variables.items() if name.startswith("TQDM_")}
        for variables in (os.environ, environment)
    )
    return here != there


def exit_code_of(program: str, arguments: list[str]) -> int:
    """Run a program to its end, as the interpreter does, apart from freeing what it holds."""
    code = 0
    try:
        run(program, arguments)
    except SystemExit as end:
        if isinstance(end.code, int):
            code = end.code
        elif end.code is not None:
            print(end.code, file=sys.stderr)
            code = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 120
    return code


def run(program: str, arguments: list[str]) -> None:
    """Do what `python` does with its arguments. The first entry of sys.path is this file's folder until then."""
    path = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    if program != "python":
        arguments = [str(BIN / program), *arguments]
    while arguments[0] in ("-B", "-u"):
        option, *arguments = arguments
        if option == "-B":
            sys.dont_write_bytecode = True
        else:
            for stream in (sys.stdout, sys.stderr):
                stream.reconfigure(write_through=True)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[:1] = [str(Path.cwd()), *path]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[:1] = [str(Path(arguments[0]).resolve().parent), *path]
        script = Path(arguments[0]).absolute()
        main = sys.modules["__main__"] = ModuleType("__main__")
        main.__file__ = str(script)
        exec(compile(script.read_bytes(), script, "exec"), vars(main))


if __name__ == "__main__":
    for module in IMPORTS:
        with suppress(ImportError):  # of another version, which imports it later or has none
            importlib.import_module(module)
    assert not any(name.partition(".")[0] == "aiayn" for name in sys.modules)
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()
    try:
        serve(sys.argv[1], Path(sys.argv[2]))
    finally:
        shutil.rmtree(sys.argv[2])
