"""The report of `make gpu-check`: what it says of tests and speeds, and one line without a GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.gpu_check import OWN, TORCHS, Outcomes, report

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
import pytest

def test_well(): pass

def test_ill(): assert 1 == 2, "differs"

@pytest.mark.skip(reason="needs two GPUs")
def test_not_here(): pass

@pytest.fixture
def broken(): raise OSError("/home/somebody/project/file: gone")

def test_never_begun(broken): pass
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    module = tmp_path_factory.mktemp("tests") / "test_of_gpu_check.py"
    module.write_text(MODULE)
    found = Outcomes()
    pytest.main(
        ["-q", "-p", "no:cacheprovider", "--no-header", "-n", "0", str(module)], plugins=[found]
    )
    return found


def test_every_test_is_told_with_its_reason(outcomes: Outcomes) -> None:
    ends = {name.split("::")[1]: end for name, end in outcomes.by_test.items()}
    assert {name: outcome for name, (outcome, _) in ends.items()} == {
        "test_well": "passed",
        "test_ill": "failed",
        "test_not_here": "skipped",
        "test_never_begun": "failed",
    }
    assert ends["test_not_here"][1] == "needs two GPUs"


def test_the_page(outcomes: Outcomes) -> None:
    page = report(
        ["- torch 2"],
        outcomes.by_test,
        {(8, OWN): (66.04, 378_000.4, 21.25), (1, TORCHS): "out of memory"},
    )
    assert "1 passed, 2 failed, 1 skipped" in page
    assert "test_not_here`: needs two GPUs\n" in page
    assert "/home/somebody" not in page
    assert (
        "| 8 | own | 66.0 | 378,000 | 21.2 |\n| 1 | of torch alone | out of memory | | |\n" in page
    )


@pytest.mark.slow
def test_without_a_gpu_it_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from benchmarks.gpu_check import main; main()"],
        cwd=tmp_path, env={"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("TrainingError: a GPU is asked for (")
    assert done.stderr.count("\n") == 1
    assert [*tmp_path.iterdir()] == []
