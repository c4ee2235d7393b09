"""Fewer GPUs than params.yaml requests, or more processes than it has work for: a one-line error when
a stage starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

from aiayn.config import Launcher
from aiayn.launcher import device_of, gpus_to_start_on

ROOT = Path(__file__).resolve().parents[2]
TRAIN = ROOT / "pipeline/train.py"
TORCHRUN = "torchrun --standalone --nproc-per-node={gpus} --max-restarts=0"
ONE_NODE, TWO_NODES = (
    Launcher(command=TORCHRUN, gpus=8),
    Launcher(command=TORCHRUN, gpus=8, nodes=2),
)


def train(
    folder: Path,
    machine: dict[str, object],
    launcher: dict[str, object],
    *prefix: str,
    micro_batches: int = 1,
) -> list[str]:
    """The lines on stderr of a training of the demo that fails."""
    params = yaml.load((ROOT / "params.yaml").read_text(), yaml.CSafeLoader)
    params["machine"] |= machine
    params["training"]["micro_batches"] = micro_batches
    params["launcher"] = launcher
    (folder / "params.yaml").write_text(yaml.dump(params, Dumper=yaml.CSafeDumper))
    inherited = {k: v for k, v in os.environ.items() if k not in ("WORLD_SIZE", "AIAYN_LAUNCHED")}
    completed = subprocess.run(
        [*prefix, *([] if prefix else [sys.executable]), str(TRAIN), "en-de.base"],
        cwd=folder, env=inherited | {"CUDA_VISIBLE_DEVICES": ""}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert completed.returncode == 1
    return completed.stderr.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cuda", "auto"])
def test_a_launcher_without_its_gpus_is_not_started(tmp_path: Path, device: str) -> None:
    (line,) = train(tmp_path, {"device": device}, {"command": TORCHRUN, "gpus": 8})
    assert line.startswith("TrainingError: a GPU is asked for (machine.device, launcher.gpus in ")
    assert line.endswith("or set machine.device to cpu.")


@pytest.mark.slow
@pytest.mark.skipif(
    not torch.distributed.is_available(), reason="a build of torch without processes"
)
@pytest.mark.parametrize(
    ("device", "micro_batches", "expected"),
    [
        ("cuda", 2, "TrainingError: "),
        (
            "cpu",
            1,
            "ConfigError: params.yaml: training.micro_batches is 1, too few for 2 processes.",
        ),
    ],
)
def test_one_process_per_machine_reports_it(
    tmp_path: Path, device: str, micro_batches: int, expected: str
) -> None:
    """As on a node of a cluster, where nothing could be checked earlier."""
    torchrun = str(Path(sys.executable).parent / "torchrun")
    lines = train(
        tmp_path, {"device": device}, {"command": None},
        torchrun, "--standalone", "--nproc-per-node=2", "--max-restarts=0",
        micro_batches=micro_batches,
    )  # fmt: skip
    assert len([line for line in lines if line.startswith(expected)]) == 1


@pytest.mark.parametrize(
    ("device", "launcher", "expected"),
    [
        ("auto", ONE_NODE, "cuda"),
        ("auto", TWO_NODES, "cuda"),
        ("cpu", ONE_NODE, "cpu"),
        ("auto", Launcher(command=TORCHRUN, gpus=0), "auto"),
        ("auto", Launcher(command=None), "auto"),
        ("cuda", Launcher(command=None), "cuda"),
    ],
)
def test_auto_is_cuda_if_the_launcher_has_gpus(
    device: str, launcher: Launcher, expected: str
) -> None:
    assert device_of(device, launcher) == expected


def test_gpus_are_counted_where_the_launcher_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WORLD_SIZE", "AIAYN_LAUNCHED"):
        monkeypatch.delenv(name, raising=False)
    no_launcher = Launcher(command=None)
    assert [
        gpus_to_start_on("cuda", launcher) for launcher in (ONE_NODE, TWO_NODES, no_launcher)
    ] == [8, 0, 0]
    assert gpus_to_start_on("cpu", ONE_NODE) == 0  # eight processes on the CPU
    monkeypatch.setenv("AIAYN_LAUNCHED", "bash")  # set for one_gpu.sh: this process sees one GPU
    assert gpus_to_start_on("cuda", ONE_NODE) == 0
