"""The diffs of docs/change.md: each applies to this code, and does what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.forked_python import programs

from aiayn import config
from aiayn.config.compose import write_params

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/change.md").read_text(encoding="utf-8")
RECIPES = sorted((ROOT / "docs/recipes").glob("*.diff"))
MODELS = {"rotary": "positions='rotary'", "qk_norm": "attention='normalized'"}

# the decoder step by step against all at once, with norms and gains that are not as they begin;
# then a step of training: loss falls on what it was shown
TRIAL = """
import torch
from aiayn.config import Model
from aiayn.decoding.incremental import IncrementalDecoder
from aiayn.model.transformer import Transformer
from aiayn.profiling.models import profile_model

torch.manual_seed(0)
row = Model(N=2, d_model=16, d_ff=32, h=2, d_k=8, d_v=8, P_drop=0.0, eps_ls=0.1, steps=8,
            positions="sinusoid", average=2, checkpoint_steps=3).replace({columns})
model = Transformer(row, 40, max_length=64)
source, target = torch.randint(4, 40, (2, 6)), torch.randint(4, 40, (2, 20))
source[1, 4:] = 0
optimizer = torch.optim.Adam(model.parameters(), 0.01)
losses = []
for _ in range(5):
    logits = model(source, target[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(float(loss.detach()))
assert losses[-1] < losses[0], losses
assert all(p.grad is not None and p.grad.any() for p in model.parameters())
model.eval()
with torch.no_grad():
    expected = model(source.repeat_interleave(2, 0), target.repeat_interleave(2, 0))
    decoder = IncrementalDecoder(model)
    prefixes = decoder.start(source, 2)
    for t in range(20):
        found = model.logits(decoder.step(target[:, [t, t]], prefixes)).flatten(0, 1)
        torch.testing.assert_close(found, expected[:, t], atol=1e-4, rtol=1e-4)
    base = Transformer(row.replace({base}), 40, max_length=64).eval()
    base.load_state_dict(model.state_dict(), strict=False)
    other = base(source, target)
profile_model(row, 40, 6, 64, 0)  # what profile_models counts, which knows every operator
assert not torch.allclose(other, expected[::2], atol=1e-3), "the recipe changes nothing"
"""
BASE = {"rotary": "positions='sinusoid'", "qk_norm": "attention='scaled'"}


@pytest.fixture
def patched(tmp_path: Path) -> Path:
    """A copy of the code, to be patched."""
    for name in ("src", "conf"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "shipped")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def apply(recipe: str, folder: Path) -> None:
    command = ["git", "apply", str(ROOT / f"docs/recipes/{recipe}.diff")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"make the diff again: {done.stderr}"


def test_every_recipe_is_on_the_page() -> None:
    assert RECIPES
    assert [r.stem for r in RECIPES] == sorted(set(re.findall(r"recipes/(\w+)\.diff", PAGE)))


@pytest.mark.parametrize("recipe", MODELS)
def test_a_model_of_another_kind(patched: Path, recipe: str) -> None:
    apply(recipe, patched)
    trial = patched / "trial.py"
    trial.write_text(TRIAL.format(columns=MODELS[recipe], base=BASE[recipe]))
    environment = {**os.environ, "PYTHONPATH": str(patched / "src")}
    done = subprocess.run(
        [programs.python(), str(trial)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_metric(patched: Path) -> None:
    """Scored even where resamples have no match and where it exceeds 100; and in MLflow's views of
    tables 2 and 3."""
    apply("metric", patched)
    code = (
        "from aiayn.evaluation.translation_metrics import *\n"
        "from aiayn.evaluation.metric import score_by_name\n"
        "from aiayn.tracking.searches import SEARCHES\n"
        "lines = ['Ein Hund läuft im Wald.'] * 3\n"
        "for found in (['Ein Hund läuft im Wald.', '', ''], ['a b c d e f g h i j k l'] * 3):\n"
        "    score = score_by_name(TRANSLATION_METRICS, Translations(found, lines, 'de'))['ter']\n"
        "    print(round(score.value), score.high > 100, score.signature)\n"
        "print([one.title for one in SEARCHES if 'metrics.`dev/ter`' in one.columns])\n"
    )
    environment = {"PYTHONPATH": str(patched / "src"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    first, second, views = done.stdout.splitlines() or [done.stderr, "", ""]
    assert first.startswith("67 True nrefs:1"), first
    assert second.startswith("240 "), second
    assert "tok:tercom" in second
    assert views == "['Table 2', 'Table 3']"
    entry = re.findall(r"^\+ +.*$", (ROOT / "docs/recipes/metric.diff").read_text(), flags=re.M)
    assert len(entry) == 7
    assert all(line in PAGE for line in entry)


def test_a_row_of_table_3(patched: Path) -> None:
    """The lines on the page are those of the diff."""
    apply("row", patched)
    diff = (ROOT / "docs/recipes/row.diff").read_text()
    added = [line for line in diff.splitlines() if re.match(r"\+ ", line)]
    assert len(added) == 2
    assert all(line in PAGE for line in added)
    model, run = re.findall(r"^\+(  .*pre_norm.*)$", PAGE, flags=re.M)
    scale = patched / "conf/scale/demo.yaml"
    text = scale.read_text().replace("  narrow:", f"{model}\n  narrow:")
    scale.write_text(text.replace("  en-de.narrow:", f"{run}\n  en-de.narrow:"))
    write_params(patched, "demo", None, None, patched)
    found = config.load(patched / "params.yaml")
    assert found.model_of("en-de.narrow").d_ff == 64
    assert found.model_of("en-de.pre_norm").norm == "pre"


def test_a_corpus_of_two_text_files(patched: Path) -> None:
    """As the page says; with so little text, its vocabulary is smaller."""
    apply("corpus", patched)
    for language in ("en", "de"):
        lines = (f"{language} {n} {n * n}\n" for n in range(400))
        (patched / f"mine.{language}").write_text("".join(lines))
    write_params(patched, "mine", None, None, patched)
    stage = [programs.python(), str(ROOT / "pipeline/download.py"), "en-de"]
    subprocess.run(stage, cwd=patched, check=True, capture_output=True)
    manifest = yaml.safe_load((patched / "data/text/en-de/manifest.json").read_text())
    pairs = {name: split["pairs"] for name, split in manifest["splits"].items()}
    assert 5 <= pairs["dev"] <= 40
    assert 5 <= pairs["test"] <= 40
    assert pairs["train"] == 400 - pairs["dev"] - pairs["test"]

    (patched / "mine.de").write_text("other text\n" * 400)
    refused = subprocess.run(stage, cwd=patched, check=False, capture_output=True, text=True)
    assert (
        refused.stderr
        == "DataError: mine.de: changed since params.yaml was composed. Run make repro.\n"
    )
    before = config.load(patched / "params.yaml").catalogue
    write_params(patched, "mine", None, None, patched)
    after = config.load(patched / "params.yaml").catalogue
    sides = [found.corpora["mine-train"].sides or {} for found in (before, after)]
    assert sides[0]["en"] == sides[1]["en"]
    assert sides[0]["de"].sha256 != sides[1]["de"].sha256
    (patched / "mine.de").unlink()
    refused = subprocess.run(stage, cwd=patched, check=False, capture_output=True, text=True)
    assert refused.stderr.startswith("DataError: mine.de: no such file. ")
    assert refused.stderr.count("\n") == 1
