"""Each process has a GPU to itself; as many run at a time as there are GPUs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "conf/launcher/scripts/one_gpu.sh"
# prints its GPU, and keeps it until its input ends
STAGE = "import os, sys; print(os.environ['CUDA_VISIBLE_DEVICES'], flush=True); sys.stdin.read()"


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks of this test alone, on a machine whose GPUs others may use."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def start(gpus: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", SCRIPT, str(gpus), sys.executable, "-SEc", STAGE],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def gpu(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("visible", [None, "4,6"])
def test_each_process_has_its_own_gpu(visible: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third waits for another one to end, even if killed, and takes its GPU."""
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    first, second = start(2), start(2)
    process_on = {gpu(first): first, gpu(second): second}
    assert sorted(process_on) == (visible or "0,1").split(",")
    third = start(2)
    os.kill(second.pid, signal.SIGKILL)
    second.communicate()
    assert process_on[gpu(third)] is second
    for process in (first, third):
        process.communicate()
        assert process.returncode == 0


def test_no_gpu() -> None:
    process = start(0)
    assert process.communicate()[1] == (
        "LauncherError: launcher.gpus is 0: there is no GPU to give. Raise it, or set "
        "launcher=here.\n"
    )
    assert process.returncode == 1
