"""aiayn verify, on a project that has run: its own copy, a flipped bit, a changed sentence, a seed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

RUN = "en-de.base"


@pytest.fixture(scope="module")
def publisher(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The project as it ran, with what it published."""
    copy = type(made)(tmp_path_factory.mktemp("published") / "copy")
    shutil.copytree(made.root, copy.root, symlinks=True)
    copy.succeed("make", "-o", ".venv/.ready", "reproduction", "NAME=tiny")
    return copy


@pytest.fixture
def published(publisher: Any, tmp_path: Path) -> Any:
    """A copy of it, to be changed."""
    copy = type(publisher)(tmp_path / "copy")
    shutil.copytree(publisher.root, copy.root, symlinks=True)
    return copy


def verify(project: Any, *options: str) -> tuple[int, str]:
    outcome = project.run("aiayn", "verify", "reproductions/tiny", *options)
    assert outcome.stderr == ""
    return outcome.returncode, outcome.stdout


def test_its_own_copy_is_the_same(published: Any) -> None:
    status, output = verify(published, "--json", "v.json", "--page", "v.html")
    assert status == 0, output
    heading, *figures, blank, _ = output.splitlines()
    assert (heading.split()[0], blank) == ("published", "")
    assert all(line.endswith(" same") for line in figures)
    held = json.loads((published.root / "v.json").read_text())
    assert (held["damage"], [*held["counts"]]) == ([], ["same"])
    page = (published.root / "v.html").read_text()
    assert page.count("<td>same</td>") == len(held["figures"]) == held["counts"]["same"]


def test_a_flipped_bit_and_a_changed_sentence_are_named(published: Any) -> None:
    weights = published.root / f"models/{RUN}/averaged.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    text = published.root / "data/text/en-de/test.target"
    text.write_text(text.read_text().replace("\n", " .\n", 1))
    status, output = verify(published)
    assert status == 1
    for path in (f"models/{RUN}/averaged.safetensors", "data/text/en-de/test.target"):
        assert f"Damaged or out of date: {path} differs from dvc.lock\n" in output


def test_another_seed_did_it(published: Any) -> None:
    published.set("runs", RUN, "seed", value=2)
    published.succeed("aiayn", "repro", f"score@{RUN}")
    status, output = verify(published)
    assert f"{RUN}: history/{RUN}.csv is the first output with other bytes\n" in output
    (cause,) = [line for line in output.splitlines() if line.startswith("  command")]
    assert cause.endswith(f"train.py {RUN} --seed 1 -> python pipeline/train.py {RUN} --seed 2")
    row = next(line for line in output.splitlines() if line.startswith(f"{RUN} dev perplexity"))
    assert row.split()[-1] in ("inside", "outside")
    outside = [line for line in output.splitlines() if line.endswith(" outside")]
    assert status == int(bool(outside))


def test_another_scale_is_not_compared(published: Any) -> None:
    shutil.copytree(Path(__file__).parents[2] / "reproductions/multi30k", published.root / "other")
    outcome = published.run("aiayn", "verify", "other")
    assert outcome.returncode == 2
    assert "not comparable (other sentences)" in outcome.stdout
