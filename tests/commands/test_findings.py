"""The published comparisons, rederived from their sentence counts and histories."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import time
from pathlib import Path

import pytest

from aiayn.commands.command_line import main
from aiayn.commands.findings import rederive, to_lines
from aiayn.commands.verification.figures import NoReproductionError
from aiayn.results import comparison, paths

ROOT = Path(__file__).parents[2]
PUBLISHED = sorted(
    path.parents[1] for path in ROOT.glob("reproductions/*/comparisons/table_3.json")
)


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_every_number_is_recomputed_from_the_records(folder: Path) -> None:
    started = time.process_time()
    found = rederive(folder)
    assert (found.differences, found.status) == ((), 0)
    assert found.derived.models.keys() == comparison.read(folder / paths.TABLE_3).models.keys()
    assert time.process_time() - started < 10
    assert f"{found.p_values} p-values, all equal to" in list(to_lines(found))[-1]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("outputs", "reports", "illustrations", "scores")
    return Path(
        shutil.copytree(ROOT / "reproductions/multi30k_tiny", tmp_path / "tiny", ignore=ignored)
    )


def test_a_changed_verdict_is_found(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy / paths.TABLE_3
    data = json.loads(path.read_text())
    data["findings"]["averaging"]["verdict"] = "holds at this scale"
    data["findings"]["search"]["effect"]["p_value"] += 1e-5
    path.write_text(json.dumps(data))
    monkeypatch.setattr(sys, "argv", ["aiayn", "findings", str(copy)])
    with pytest.raises(SystemExit) as exit_info:
        main()
    printed = capsys.readouterr().out
    assert exit_info.value.code == 1
    assert "2 values differ from comparisons/table_3.json: findings.averaging.verdict" in printed
    assert "holds at this scale published, undecided here" in printed
    assert "findings.search.effect.p_value" in printed


def test_a_misspelt_reproduction() -> None:
    with pytest.raises(
        NoReproductionError, match=r"multi30k_tinny: .* Did you mean multi30k_tiny\?$"
    ):
        rederive(ROOT / "reproductions/multi30k_tinny")


def test_a_changed_sentence_is_found(copy: Path) -> None:
    path = copy / paths.SENTENCE_COUNTS
    text = gzip.decompress(path.read_bytes()).decode().split("\n")
    first = text[1].split(",")
    text[1] = ",".join([*first[:3], "1", *first[4:5], "1", "0", "0", "0"])
    path.write_bytes(gzip.compress("\n".join(text).encode()))
    found = rederive(copy)
    assert found.status == 1
    assert any(difference.startswith("models.") for difference in found.differences)


def test_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(NoReproductionError, match=r"not a reproduction"):
        rederive(tmp_path)
