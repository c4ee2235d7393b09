"""The declared design: its data form, fresh seeds, its power as documented, and its commit."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml
from benchmarks.power import from_pilot
from benchmarks.significance import PILOT, declared, of_models
from dvc.utils.hydra import compose_and_dump

from aiayn import config
from aiayn.paper.findings import STATEMENTS, statements
from aiayn.results import comparison
from aiayn.results.seeds import by_seed

ROOT = Path(__file__).parents[2]
FORMS = {path.stem: path for path in (ROOT / "conf/preregistration").glob("*.yaml")}
SCALES = {
    path.stem: path
    for path in sorted((ROOT / "conf/scale").glob("*.yaml"))
    if "/preregistration: " in path.read_text()
}


@pytest.mark.parametrize("name", FORMS)
def test_every_statement_is_declared_with_one_measure_and_looks_within_its_seeds(name: str) -> None:
    design = declared(name)
    form = design.preregistration
    assert form
    assert form.statements.keys() == STATEMENTS.keys()
    looks = [s.interim_looks or design.interim_looks for s in form.statements.values()]
    assert max(max(seeds) for seeds in looks) == len(form.seeds)


@pytest.mark.parametrize("name", FORMS)
def test_seeds_are_fresh(name: str) -> None:
    form = declared(name).preregistration
    assert form
    for params in (ROOT / "reproductions").glob("*/params.yaml"):
        published = config.load(params)
        if published.variations.preregistration:
            continue
        for run in published.runs.values():
            if any(name in corpus for corpus in published.task(run.task).text.train):
                assert run.seed not in form.seeds, params


@pytest.mark.parametrize(
    ("name", "scale"), [("tatoeba", "tatoeba_gate"), ("multi30k", "multi30k_tiny")]
)
def test_a_scale_includes_a_preregistration_by_name(name: str, scale: str, tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    overrides = [
        f"scale={scale}", f"+preregistration={name}",
        "+variations.preregistration.commit=1a2b3c4",
    ]  # fmt: skip
    compose_and_dump(str(file), str(ROOT / "conf"), None, "config", "", overrides)
    variations = config.load(file).variations
    expected = declared(name)
    assert variations.interim_looks == expected.interim_looks
    assert variations.preregistration
    assert expected.preregistration
    assert variations.preregistration == expected.preregistration.replace(commit="1a2b3c4")


@pytest.mark.parametrize(("column", "name", "share"), [
    (0, "tatoeba", 1.0), (1, "tatoeba", 0.7), (2, "multi30k", 1.0), (3, "multi30k", 0.7),
])  # fmt: skip
def test_the_documented_power_is_the_simulated(column: int, name: str, share: float) -> None:
    design = declared(name)
    claims = of_models(design)
    text = (ROOT / "docs/preregistration.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| (?:BLEU|log-perplexity) \| (.*) \|$", text, re.MULTILINE))
    assert rows.keys() == claims.keys()
    simulation = from_pilot(comparison.read(PILOT), claims, design, share)
    power = simulation.decided(4000, np.random.default_rng(7)).mean(axis=0)
    for row, simulated in zip(rows.values(), power, strict=True):
        assert float(row.split(" | ")[2 + column]) == pytest.approx(simulated, abs=0.03)


def compose(scale: str, folder: Path) -> config.Config:
    """The parameters of a scale."""
    file = folder / "params.yaml"
    compose_and_dump(str(file), str(ROOT / "conf"), None, "config", "", [f"scale={scale}"])
    return config.load(file)


@pytest.mark.parametrize("name", SCALES)
def test_a_scale_trains_and_decodes_the_declared_seeds_of_one_of_the_looks(
    name: str, tmp_path: Path
) -> None:
    """Of each statement; models of one that was decided at an earlier look need no more seeds."""
    scale = compose(name, tmp_path)
    form = scale.variations.preregistration
    assert form
    seeds = {
        model: {seed for seed, run in names.items() if run in scale.tested}
        for (_, model), names in by_seed(scale.runs).items()
    }
    for key, statement in statements(scale.variations.measures).items():
        if statement.over == "models":
            shared = set.intersection(*(seeds[row] for row in statement.rows))
            looks = form.statements[key].interim_looks or scale.variations.interim_looks
            assert len(shared) in looks, key
            assert shared == set(form.seeds[: len(shared)])


def test_multi30k_is_trained_as_the_pilot_was(tmp_path: Path) -> None:
    """Except that the last five checkpoints of every row are kept and averaged."""
    scale, pilot = (
        compose("multi30k_declared", tmp_path),
        config.load(PILOT.parents[1] / "params.yaml"),
    )
    kept = {
        name: model.replace(average=max(model.average, 5)) for name, model in pilot.models.items()
    }
    assert scale.models == kept
    assert scale.training == pilot.training
    assert scale.tasks == pilot.tasks


def test_preregistrations_in_use_equal_those_of_their_commits() -> None:
    """Nor does a scale name a commit without the form."""
    for path in SCALES.values():
        text = path.read_text()
        (commit,) = re.findall(r"preregistration: \{commit: '?\"?(\w+)", text)
        (name,) = re.findall(r"/preregistration: (\w+)", text)
        committed = subprocess.run(
            ["git", "show", f"{commit}:conf/preregistration/{name}.yaml"], cwd=ROOT, check=True,
            capture_output=True, text=True,
        ).stdout  # fmt: skip
        assert yaml.safe_load(committed) == yaml.safe_load(FORMS[name].read_text())
