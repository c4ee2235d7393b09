"""A rehearsal trains by the scale's launcher, runs a whole graph in short and leaves the project as it
was."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch


def shortened(project: Any, file: str, line: str, shorter: str) -> None:
    """Change a line of conf/: a rehearsal's time grows with runs and words."""
    path = project.root / "conf" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(line) == 1
    path.write_text(text.replace(line, shorter), encoding="utf-8")


def test_a_scale_of_the_cpu(clone: Any) -> None:
    # tests/commands/rehearsal/test_small_project.py tests which runs are chosen
    shortened(clone, "scale/copy.yaml", "  copy.E_learned: {<<: *run, model: E_learned}\n", "")
    shortened(
        clone, "scale/copy.yaml", "tested: [copy.base, copy.E_learned]", "tested: [copy.base]"
    )
    before = sorted(clone.root.rglob("*"))
    printed = clone.succeed("python", "-B", "-m", "aiayn", "rehearse", "copy")
    assert re.search(r"copy.base: 20 steps, 1 process\(es\), .* target tokens/s\n", printed)
    assert "stopped by SIGTERM and resumed (2 starts): identical weights and losses\n" in printed
    assert "not tried: several processes, because the launcher starts one\n" in printed
    assert re.search(r"all \d+ stages of 1 of 1 runs: 50 sentences of each split decoded", printed)
    assert "missing on this machine:\n  nothing\n" in printed
    assert re.search(r"copy.base: 100,608 parameters, 900 steps, \d+\.\d hours\n", printed)
    assert sorted(clone.root.rglob("*")) == before


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.timeout(900)
def test_a_scale_of_gpus_by_two_processes_of_the_cpu(clone: Any) -> None:
    """All that can be tried here, and what cannot, with exit code 1."""
    shortened(clone, "tasks/wmt14_en_de.yaml", "vocabulary: 37000", "vocabulary: 4000")
    done = clone.run(
        "python", "-B", "-m", "aiayn", "rehearse", "wmt14_base", AIAYN_MIRROR="/nowhere"
    )
    assert done.returncode == 1, done.stderr
    printed = done.stdout
    assert "NOT TRIED: GPUs, NCCL, bfloat16, models of real size." in printed
    assert re.search(r"en-de.base: 20 steps, 2 process\(es\), .* target tokens/s\n", printed)
    assert "stopped by SIGTERM and resumed (2 starts): identical weights and losses\n" in printed
    difference = re.search(r"all processes against one: losses differ by at most (\S+) %", printed)
    assert difference is not None
    assert float(difference[1]) < 0.01
    assert re.search(r"all \d+ stages of 1 of 1 runs: 50 sentences of each split decoded", printed)
    assert f"en-de.base: {63_045_632 - 33_000 * 512:,} parameters, 100,000 steps\n" in printed
    assert "  no GPU: machine.device is cuda, but torch sees none." in printed
    assert "downloads: " in printed
