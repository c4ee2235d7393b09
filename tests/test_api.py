"""The public Python API: stable names, and results without weights or torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import aiayn
from aiayn.commands import main


def test_the_public_names() -> None:
    assert aiayn.__all__ == ["SHIPPED", "load", "read_results"]


def test_the_shipped_model_translates_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a project, and with a picture of its attention."""
    monkeypatch.chdir(tmp_path)
    sentences = ["Where is the station?", "The dog sleeps."]
    main(["translate", aiayn.SHIPPED, *sentences, "--attention", "attention.svg"])
    assert capsys.readouterr().out.splitlines() == ["Wo ist der Bahnhof?", "Der Hund schläft."]
    assert b"Bahnhof" in (tmp_path / "attention.svg").read_bytes()


def test_published_results_are_read_without_torch(root: Path) -> None:
    code = (
        "import sys, aiayn; from aiayn.results.schemas import SCHEMAS\n"
        "results = aiayn.read_results(sys.argv[1])\n"
        "print({name: len(getattr(results, name)) > 0 for name in SCHEMAS}, 'torch' in sys.modules)"
    )
    folder = root / "reproductions/multi30k_table3"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    frames, _, torch = done.stdout.strip().rpartition(" ")
    assert "False" not in frames
    assert torch == "False"
