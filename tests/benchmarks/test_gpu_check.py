"""The report of `make gpu-check`: its tests and speeds; a one-line error without a GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.gpu_check import OWN, TORCHS, Outcomes, report

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
import pytest

def test_passing(): pass

def test_failing(): assert 1 == 2, "differs"

@pytest.mark.skip(reason="needs two GPUs")
def test_skipped(): pass

@pytest.fixture
def broken(): raise OSError("/home/somebody/project/file: gone")

def test_with_broken_fixture(broken): pass
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


def test_every_test_has_its_outcome_and_reason(outcomes: Outcomes) -> None:
    outcome_by_name = {name.split("::")[1]: outcome for name, outcome in outcomes.by_test.items()}
    assert {name: outcome for name, (outcome, _) in outcome_by_name.items()} == {
        "test_passing": "passed",
        "test_failing": "failed",
        "test_skipped": "skipped",
        "test_with_broken_fixture": "failed",
    }
    assert outcome_by_name["test_skipped"][1] == "needs two GPUs"


def test_the_page(outcomes: Outcomes) -> None:
    page = report(
        ["- torch 2"],
        outcomes.by_test,
        {("base", 8, OWN): (66.04, 378_000.4, 21.25), ("big", 1, TORCHS): "out of memory"},
    )
    assert "1 passed, 2 failed, 1 skipped" in page
    assert "test_skipped`: needs two GPUs\n" in page
    assert "/home/somebody" not in page
    assert (
        "| base | 8 | own | 66.0 | 378,000 | 21.2 |\n| big | 1 | of torch alone | out of memory | | |\n"
        in page
    )


@pytest.mark.slow
def test_without_a_gpu_it_is_a_one_line_error(tmp_path: Path) -> None:
    completed = subprocess.run(
        [sys.executable, "-c", "from benchmarks.gpu_check import main; main()"],
        cwd=tmp_path, env={"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (completed.returncode, completed.stdout) == (1, "")
    assert completed.stderr.startswith("TrainingError: a GPU is asked for (")
    assert completed.stderr.count("\n") == 1
    assert [*tmp_path.iterdir()] == []
