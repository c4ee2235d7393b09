"""The score stage in a small project: its outputs, and the files left after a failure."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.forked_python import programs

from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS
from aiayn.results import history
from aiayn.results.history import History, Line

ROOT = Path(__file__).parents[2]
SENTENCES = {
    "dev": ["Ein Hund läuft durch den Wald.", "Die Katze schläft."],
    "test": ["Der Mann sieht die alte Brücke.", "Wo steht das Haus?", "Sie singt."],
}


@pytest.fixture
def project(tmp_path: Path, describe: Callable[..., None]) -> Path:
    """The committed parameters, whose run en-de.base has one test set; dev translated badly."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    text, outputs = tmp_path / "data/text/en-de", tmp_path / "outputs/en-de.base"
    text.mkdir(parents=True)
    outputs.mkdir(parents=True)
    for split, sentences in SENTENCES.items():
        (text / f"{split}.target").write_text("".join(f"{line}\n" for line in sentences))
    describe(text, dev="demo-dev", test="demo-test")
    (outputs / "test.hypotheses").write_text("".join(f"{line}\n" for line in SENTENCES["test"]))
    (outputs / "dev.hypotheses").write_text("Ein Hund\n\n")
    line = Line(
        step=9,
        epoch=1.0,
        tokens=9,
        learning_rate=0.1,
        loss=2.0,
        dev_loss=1.5,
        dev_perplexity=4.4817,
    )
    history.write(tmp_path / "history/en-de.base.csv", History((line,)))
    return tmp_path


def score(project: Path, run: str = "en-de.base") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [programs.python(), ROOT / "pipeline/score.py", run],
        cwd=project, capture_output=True, text=True,
    )  # fmt: skip


def test_writes_every_split_with_its_test_set_reproducibly(project: Path) -> None:
    assert score(project).returncode == 0
    path = project / "scores/en-de.base.json"
    first = path.read_bytes()
    report = json.loads(first)
    assert {key: report[key] for key in ("run", "task", "model")} == {
        "run": "en-de.base", "task": "en-de", "model": "base",
    }  # fmt: skip
    assert set(report["splits"]) == {"dev", "test"}
    manifest = json.loads((project / "data/text/en-de/manifest.json").read_text())
    for split, measured in report["splits"].items():
        identity = {"corpora", "pairs", "sha256"}
        expected = {key: manifest["splits"][split][key] for key in identity}
        assert measured.pop("set") == expected
        assert set(measured) == {metric.name for metric in TRANSLATION_METRICS}
        assert all(item["low"] <= item["high"] for item in measured.values())
    assert report["splits"]["test"]["bleu"]["value"] == 100
    assert report["splits"]["dev"]["bleu"]["value"] < 50
    assert first.endswith(b"}\n")
    metrics = json.loads((project / "metrics/en-de.base.json").read_text())
    assert metrics == {
        "dev": {"bleu": report["splits"]["dev"]["bleu"]["value"], "perplexity": 4.48},
        "test": {"bleu": 100.0},
    }
    assert score(project).returncode == 0
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            "outputs/en-de.base/test.hypotheses",
            b"Nur eine Zeile.\n",
            "ScoreError: outputs/en-de.base/test.hypotheses has 1 lines and "
            "data/text/en-de/test.target has 3.",
        ),
        ("data/text/en-de/dev.target", b"Etwas anderes.\n", "DataError: data/text/en-de/dev.tar"),
        ("params.yaml", b"scale: demo\n", "ConfigError: params.yaml: catalogue is missing."),
    ],
)
def test_a_failure_is_a_one_line_error_and_leaves_the_old_scores(
    project: Path, file: str, content: bytes, message: str
) -> None:
    (project / "scores").mkdir()
    (project / "scores/en-de.base.json").write_text("old")
    (project / file).write_bytes(content)
    result = score(project)
    assert result.returncode == 1
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert [(path.name, path.read_text()) for path in (project / "scores").iterdir()] == [
        ("en-de.base.json", "old")
    ]


def test_an_unknown_run_suggests_the_nearest(project: Path) -> None:
    result = score(project, "en-de.bas")
    assert result.returncode == 1
    assert "Did you mean en-de.base?" in result.stderr
