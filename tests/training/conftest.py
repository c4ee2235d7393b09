"""A training small enough to repeat many times."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from aiayn.config import Adam, Model, Training
from aiayn.data.tokens.arrays import Side, TokenArrays
from aiayn.model.device import Device
from aiayn.training.job import Job
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

SETTINGS = Training(
    batch_tokens=256, micro_batches=4, max_length=32, warmup_steps=20, learning_rate_scale=1.0,
    adam=Adam(beta1=0.9, beta2=0.98, epsilon=1e-9), validation_steps=4, log_steps=2,
)  # fmt: skip


def random_arrays(pairs: int, seed: int = 0) -> TokenArrays:
    """Pairs whose target equals the source: something that can be learned."""
    random = np.random.default_rng(seed)
    lengths = random.integers(2, 12, pairs)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    ids = random.integers(4, 30, offsets[-1], dtype=np.uint16)
    ids[offsets[1:] - 1] = 3
    return TokenArrays(Side(ids, offsets), Side(ids, offsets), vocabulary=30)


@pytest.fixture
def make_trainer(tiny: Callable[..., Model]) -> Callable[..., Trainer]:
    """A trainer at step 0, with any settings and columns of the model replaced."""

    def make(processes: Processes | None = None, **changes: object) -> Trainer:
        settings = {k: v for k, v in changes.items() if hasattr(SETTINGS, k)}
        columns = {k: v for k, v in changes.items() if k not in settings}
        training = SETTINGS.replace(**settings)
        job = Job("en-de.tiny", "translation", tiny(**columns), training, 1, "tokens", "code")
        device = Device(torch.device("cpu"), "float32")
        return Trainer(
            job, random_arrays(200), random_arrays(20, 1), device, processes or Processes()
        )

    return make


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Where a training keeps what it needs to resume."""
    return tmp_path / "scratch"


# Trains in processes forked from one that has already imported torch, so that starting one costs nothing; exiting
# costs nothing either, since multiprocessing skips the interpreter's shutdown, which takes a second. A test passes
# the code to run after each step and before each write to disk.
HOST = """
import importlib.util, json, multiprocessing, os, signal, sys
from pathlib import Path
import torch
from aiayn.model.device import Device
from aiayn.training.processes import Processes, process_group
from aiayn.errors import one_line_errors
from aiayn.results import history
from aiayn.training.job import Job
from aiayn.training.loop import fit
from aiayn.training.trainer import Trainer

def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

tests = Path(sys.argv[1])
shared, local = load("shared", tests / "conftest.py"), load("local", tests / "training/conftest.py")
torch.set_num_threads(1)

@one_line_errors
def train(scratch, columns, settings, on_step, on_write):
    processes, device = Processes.from_environment(), Device(torch.device("cpu"), "float32")
    with process_group(processes, device):
        training, model = local.SETTINGS.replace(**settings), shared.TINY.replace(**columns)
        job = Job("en-de.tiny", "translation", model, training, 1, "tokens", "code")
        trainer = Trainer(job, local.random_arrays(200), local.random_arrays(20, 1), device, processes)
        step, fsync, write = trainer.step, os.fsync, {"number": 0}
        def watched_step():
            step()
            exec(on_step, {"trainer": trainer, "rank": processes.rank, "os": os, "signal": signal})
        def watched_fsync(file):
            write["number"] += 1
            exec(on_write, {"number": write["number"], "os": os, "signal": signal})
            fsync(file)
        trainer.step, os.fsync = watched_step, watched_fsync
        outcome = fit(trainer, Path(scratch.format(rank=processes.rank)))
        if processes.is_first:
            Path(scratch.format(rank=0), "history.csv").write_text(history.content(outcome.curve))

# one step in the host, so that the children need not import what it needs
Trainer(
    Job("en-de.tiny", "translation", shared.TINY, local.SETTINGS, 1, "tokens", "code"), local.random_arrays(200),
    local.random_arrays(20, 1), Device(torch.device("cpu"), "float32"), Processes(),
).step()

def child(request, rank):
    os.environ.update(request["environment"], RANK=str(rank), LOCAL_RANK=str(rank))
    for number, stream in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{request['output']}.{rank}.{stream}", os.O_CREAT | os.O_WRONLY), number)
    train(**request["training"])

fork = multiprocessing.get_context("fork")
for line in sys.stdin:
    request = json.loads(line)
    children = [fork.Process(target=child, args=(request, rank)) for rank in range(request["count"])]
    for process in children:
        process.start()
    for process in children:
        process.join()
    print(json.dumps([process.exitcode for process in children]), flush=True)
"""

Exit = tuple[int, str]  # exit code, stderr


@pytest.fixture(scope="session")
def train_together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., list[Exit]]]:
    """Train in `count` processes, resuming from `scratch` if possible; how each of them exited.

    `columns` replace TINY's, `settings` SETTINGS'; `on_step` and `on_write` are Python, run after
    each step and before each write to disk.
    """
    tests = Path(__file__).resolve().parent.parent
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(tests)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert host.stdin is not None
    assert host.stdout is not None
    outputs = tmp_path_factory.mktemp("outputs")
    requests = 0

    def train(
        scratch: Path | str, count: int = 1, *, columns: dict[str, object] | None = None,
        settings: dict[str, object] | None = None, on_step: str = "", on_write: str = "",
    ) -> list[Exit]:  # fmt: skip
        nonlocal requests
        requests += 1
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        request = {
            "count": count,
            "output": str(outputs / str(requests)),
            "environment": {
                "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
            },
            "training": {
                "scratch": str(scratch), "columns": columns or {}, "settings": settings or {},
                "on_step": on_step, "on_write": on_write,
            },
        }  # fmt: skip
        assert host.stdin is not None
        assert host.stdout is not None
        print(json.dumps(request), file=host.stdin, flush=True)
        codes = json.loads(host.stdout.readline())
        return [(c, (outputs / f"{requests}.{n}.err").read_text()) for n, c in enumerate(codes)]

    yield train
    host.stdin.close()
    host.stdout.close()
    assert host.wait() == 0
