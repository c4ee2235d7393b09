"""The smallest scale, its first run trained as it is. All of its stages run in small where a
rehearsal is tested."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RUN, LEARNED = "copy.base", "copy.E_learned"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory, copy_of: Callable[[Path], Any]) -> Any:
    project = copy_of(tmp_path_factory.mktemp("copied"))
    (project.root / "dvc.lock").unlink(missing_ok=True)
    project.succeed("git", "init", "-q")
    # the second one's 900 steps would show no more here
    project.compose("scale=copy", "models.E_learned.steps=200")
    project.succeed("aiayn", "repro", f"score@{RUN}", f"score@{LEARNED}")
    return project


def accuracy(copied: Any, run: str) -> dict[str, float]:
    splits = json.loads((copied.root / f"scores/{run}.json").read_text())["splits"]
    return {split: scored["accuracy"]["value"] for split, scored in splits.items()}


def test_every_unseen_sequence_is_copied(copied: Any) -> None:
    assert accuracy(copied, RUN)["test"] == 100.0


def test_outputs_are_the_sequences_themselves(copied: Any) -> None:
    expected = (copied.root / "data/text/copy/test.target").read_text()
    assert (copied.root / f"outputs/{RUN}/test.hypotheses").read_text() == expected
    train = (copied.root / "data/text/copy/train.source").read_text().splitlines()
    assert not {*train} & {*expected.splitlines()}


def test_the_report_shows_what_becomes_of_longer_ones(copied: Any) -> None:
    copied.succeed("python", "pipeline/report.py", "--only", "beyond")
    with (copied.root / "reports/figures/copied_by_length_copy.csv").open() as file:
        lines = [*csv.DictReader(file)]
    longer = {
        run: [
            int(line["copied"]) for line in lines if line["run"] == run and int(line["length"]) > 10
        ]
        for run in (RUN, LEARNED)
    }
    assert len(longer[RUN]) == len(longer[LEARNED]) == 6
    for run, counts in longer.items():
        assert accuracy(copied, run)["longer"] == pytest.approx(100 * sum(counts) / 600, abs=0.005)


def test_a_sequence_of_ones_own_is_copied(copied: Any) -> None:
    assert copied.succeed("aiayn", "translate", RUN, "p o n m l") == "p o n m l\n"
