"""What a stranger learns from a reproduction's folder alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from aiayn.commands.publication.readme import readme


def test_what_was_run_on_which_data_with_which_result(reproduction: Path) -> None:
    page = readme(reproduction, "toy")
    assert page.startswith('# toy: "Attention Is All You Need" at the scale toy\n')
    said = " ".join(page.split())
    assert "1 training, 2026-01-02 03:04 to 2026-01-02 03:05 (UTC), on cpu: 2 x An Invented" in said
    assert "Python 3.11.0, torch 2.13.0." in said
    assert "| en-de.base | a-test-set | 2 | bleu | 25.00 | 24.00 to 26.00 |\n" in page
    source = "https://example.org/a_corpus/train.en.gz"
    assert f"| {source} | en-de | research only | sha256:{'a' * 64} |\n" in page
    assert "example.org/other" not in page  # of a language that the task does not read
    assert "who-acts" not in page
    assert "| made by the project itself | en-de | MIT |  |\n" in page
    assert f"| data/text/en-de | en-de |  | md5:{'7' * 32}.dir |\n" in page


def test_how_to_start_it_again(reproduction: Path) -> None:
    commit = "4f2a" * 10
    page = readme(reproduction, "toy")
    lines = page.partition("```\n")[2].partition("```")[0].splitlines()
    assert lines[:3] == [
        f"git checkout {commit}",
        "cp FOLDER/params.yaml FOLDER/dvc.lock .",
        "make repro",
    ]
    assert lines[3].startswith(".venv/bin/aiayn verify FOLDER")
    assert "`-dirty`: code, conf/ or documents differed from the commit." in page
    path = reproduction / "circumstances/en-de.base.train.json"
    held = json.loads(path.read_text())
    later = held | {"commit": "5e5e" * 10, "ended": "2026-01-03T03:04:05+00:00"}
    path.with_name("en-de.big.train.json").write_text(json.dumps(later))
    several = readme(reproduction, "toy")
    assert f"git checkout {'5e5e' * 10}\n" in several  # that of the last training
    assert several.index(f"`{'5e5e' * 10}` (1),") < several.index(f"`{commit}-dirty` (1).")


def test_of_a_clean_commit_nothing_needs_to_be_said(reproduction: Path) -> None:
    path = reproduction / "circumstances/en-de.base.train.json"
    path.write_text(path.read_text().replace("-dirty", ""))
    page = readme(reproduction, "toy")
    assert "dirty" not in page
    assert "dvc status" not in page


def test_it_names_what_is_there_alone(reproduction: Path) -> None:
    page = readme(reproduction, "toy")
    assert "| `scores/` |" in page
    assert "reports" not in page
    for name in ("scores", "circumstances", "history"):
        shutil.rmtree(reproduction / name)
    assert "No training is recorded." in readme(reproduction, "toy")
    assert "| `scores/` |" not in readme(reproduction, "toy")
