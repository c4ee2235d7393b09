"""Table 3's comparison: runs paired by seed, and sacreBLEU's own command for the same figures."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn import config
from aiayn.errors import DataError, ScoreError
from aiayn.scoring.variations import compare_variations, last_perplexity

ROOT = Path(__file__).parents[2]
REFERENCES = [f"Der Hund läuft heute durch den Wald Nummer {n}." for n in range(40)]
# a word of every n-th sentence is another
SPOILT = {"en-de.base": 4, "en-de.wide": 3, "en-de.deep": 2, "en-de.base2": 5, "en-de.wide2": 7}
RUNS = {
    "en-de.base": {"task": "en-de", "model": "base", "seed": 1},
    "en-fr.base": {"task": "en-fr", "model": "base", "seed": 1},
    "en-de.wide": {"task": "en-de", "model": "wide", "seed": 1},
    "en-de.deep": {"task": "en-de", "model": "deep", "seed": 3},
}
SECOND = {
    "en-de.base2": {"task": "en-de", "model": "base", "seed": 2},
    "en-de.wide2": {"task": "en-de", "model": "wide", "seed": 2},
}

Compare = Callable[..., dict[str, Any]]


def hypotheses(run: str) -> list[str]:
    step = SPOILT[run]
    return [
        line.replace("Hund", "Esel") if n % step == 0 else line for n, line in enumerate(REFERENCES)
    ]


def history(*perplexities: float) -> str:
    lines = [f"{n},{perplexity}\n" for n, perplexity in enumerate(perplexities, 1)]
    return "".join(["step,dev_perplexity\n", *lines])


@pytest.fixture
def project(tmp_path: Path, describe: Callable[..., None]) -> Path:
    """Dev sets, hypotheses and histories; the last dev perplexity is the run's step of SPOILT."""
    text = tmp_path / "data/text/en-de"
    text.mkdir(parents=True)
    (tmp_path / "history").mkdir()
    content = "".join(f"{line}\n" for line in REFERENCES).encode()
    (text / "dev.target").write_bytes(content)
    describe(text, dev="demo-dev")
    for run, step in SPOILT.items():
        (tmp_path / "outputs" / run).mkdir(parents=True)
        lines = "".join(f"{line}\n" for line in hypotheses(run))
        (tmp_path / "outputs" / run / "dev.hypotheses").write_text(lines, encoding="utf-8")
        (tmp_path / "history" / f"{run}.csv").write_text(history(99, step))
    return tmp_path


@pytest.fixture
def compare(project: Path) -> Compare:
    """compare_variations over these runs."""

    def with_runs(runs: dict[str, Any], base: str = "base") -> dict[str, Any]:
        params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
        row = params["models"]["base"]
        params["models"] |= {name: copy.deepcopy(row) for name in ("wide", "deep")}
        params |= {"runs": runs, "tested": [], "variations": {"task": "en-de", "base": base}}
        (project / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
        return compare_variations(config.load(project / "params.yaml"), project)

    return with_runs


def sacrebleus_command(folder: Path, base: str, other: str) -> tuple[float, float, float]:
    """BLEU of both, and the p-value, as `sacrebleu --paired-bs` prints them."""
    files = [f"outputs/{run}/dev.hypotheses" for run in (base, other)]
    printed = subprocess.run(
        [
            sys.executable, "-m", "sacrebleu", "data/text/en-de/dev.target", "-i", *files,
            "--metrics", "bleu", "--paired-bs", "--format", "json",
        ],
        cwd=folder, check=True, capture_output=True, encoding="utf-8",
    ).stdout  # fmt: skip
    first, second = (system["BLEU"] for system in json.loads(printed))
    return first["score"], second["score"], second["p_value"]


def test_one_seed_is_what_sacrebleus_command_finds(
    compare: Compare, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    found = compare(RUNS)
    assert {key: found[key] for key in ("task", "base", "split")} == {
        "task": "en-de", "base": "base", "split": "dev",
    }  # fmt: skip
    assert found["set"]["pairs"] == 40
    assert "tok:13a" in found["signature"]
    # in the order of the runs, other tasks left out
    assert list(found["models"]) == ["base", "wide", "deep"]
    base = found["models"]["base"]
    assert base["seeds"]["1"].keys() == {"run", "perplexity", "bleu"}
    assert base["perplexity"] == {"mean": 4}
    # deep has no base of its seed: the first base stands in
    for model, seed in (("wide", "1"), ("deep", "3")):
        entry = found["models"][model]["seeds"][seed]
        first, second, p_value = sacrebleus_command(project, "en-de.base", f"en-de.{model}")
        assert entry["run"] == f"en-de.{model}"
        assert base["seeds"]["1"]["bleu"] == pytest.approx(first, abs=0.005)
        assert entry["bleu"] == pytest.approx(second, abs=0.005)
        assert entry["difference"] == pytest.approx(second - first, abs=0.005)
        assert entry["p_value"] == pytest.approx(p_value, abs=5e-5)


def test_seeds_are_paired_with_their_own_base(compare: Compare, project: Path) -> None:
    found = compare(RUNS | SECOND)
    wide = found["models"]["wide"]
    assert [entry["run"] for entry in wide["seeds"].values()] == ["en-de.wide", "en-de.wide2"]
    for seed, name in (("1", "wide"), ("2", "wide2")):
        base = f"en-de.base{name.removeprefix('wide')}"
        first, second, p_value = sacrebleus_command(project, base, f"en-de.{name}")
        assert wide["seeds"][seed]["difference"] == pytest.approx(second - first, abs=0.005)
        assert wide["seeds"][seed]["p_value"] == pytest.approx(p_value, abs=5e-5)
    # of 3 and 7: mean 5, sample deviation sqrt((2² + 2²) / 1)
    assert wide["perplexity"] == {"mean": 5, "sd": pytest.approx(8**0.5, abs=1e-4)}
    assert found["models"]["base"]["seeds"].keys() == {"1", "2"}
    assert "p_value" not in found["models"]["base"]["seeds"]["2"]


def test_a_run_that_is_there_twice_counts_once(compare: Compare, project: Path) -> None:
    again = {"en-de.wide2": {**RUNS["en-de.wide"]}, "en-de.base2": {**RUNS["en-de.base"]}}
    assert compare(RUNS | again)["models"] == compare(RUNS)["models"]


def test_a_base_alone_is_scored(compare: Compare) -> None:
    found = compare({"en-de.base": RUNS["en-de.base"]})
    (entry,) = found["models"]["base"]["seeds"].values()
    assert entry["bleu"] == compare(RUNS)["models"]["base"]["seeds"]["1"]["bleu"]
    assert "tok:13a" in found["signature"]


def test_no_run_of_the_base(compare: Compare) -> None:
    with pytest.raises(
        ScoreError, match=r"^params.yaml: variations.base is big, but no run learns"
    ):
        compare(RUNS, base="big")


def test_missing_hypotheses(compare: Compare, project: Path) -> None:
    path = project / "outputs/en-de.deep/dev.hypotheses"
    path.unlink()
    with pytest.raises(DataError) as error:
        compare(RUNS)
    said = f"{path}: there is no such file. Make it again: dvc repro -f decode@en-de.deep."
    assert str(error.value) == said


@pytest.mark.parametrize(
    "content", ["", "step,loss\n1,2\n", history(3) + "2,\n", "step,dev_perplexity\n1,good\n", None]
)
def test_a_damaged_history(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "en-de.wide.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ScoreError) as error:
        last_perplexity(path)
    said = f"{path}: tells no last dev perplexity. Train again: dvc repro -f train@en-de.wide."
    assert str(error.value) == said


def test_the_stage_writes_the_same_bytes_again(compare: Compare, project: Path) -> None:
    compare(RUNS)
    shutil.copy(ROOT / "dvc.yaml", project)

    def run() -> bytes:
        command = [sys.executable, str(ROOT / "pipeline/compare.py")]
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        return (project / "comparisons/table_3.json").read_bytes()

    first = run()
    assert json.loads(first) == compare(RUNS)
    assert run() == first
