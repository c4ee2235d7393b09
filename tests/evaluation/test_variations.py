"""Table 3's comparison: runs paired by seed, and sacreBLEU's own command for the same figures."""

from __future__ import annotations

import copy
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from sacrebleu import BLEU, TER
from scipy import stats

from aiayn import config
from aiayn.commands.findings import rederive
from aiayn.errors import DataError, ScoreError
from aiayn.evaluation.metric import Metric
from aiayn.evaluation.sentences import count_sentences
from aiayn.evaluation.translation_metrics import TRANSLATION_METRICS, by_sacrebleu
from aiayn.evaluation.variations import compare_variations, further_scores
from aiayn.results import comparison, paths, sentence_counts
from aiayn.results.comparison import Comparison, Measure, read
from aiayn.results.frames import comparisons_frame
from aiayn.results.history import History, Line, write

ROOT = Path(__file__).parents[2]
REFERENCES = [f"Der Hund läuft heute durch den Wald Nummer {n}." for n in range(40)]
# by run, n: one word of every n-th sentence is wrong
ERROR_STEP = {"en-de.base": 4, "en-de.wide": 3, "en-de.deep": 2, "en-de.base2": 5, "en-de.wide2": 7}
RUNS = {
    "en-de.base": {"task": "en-de", "model": "base", "seed": 1},
    "en-fr.base": {"task": "en-fr", "model": "base", "seed": 1},
    "en-de.wide": {"task": "en-de", "model": "wide", "seed": 1},
    "en-de.deep": {"task": "en-de", "model": "deep", "seed": 3},
}
SECOND_SEEDS = {
    "en-de.base2": {"task": "en-de", "model": "base", "seed": 2},
    "en-de.wide2": {"task": "en-de", "model": "wide", "seed": 2},
}

Compare = Callable[..., Comparison]


def hypotheses(run: str) -> list[str]:
    step = ERROR_STEP[run]
    return [
        line.replace("Hund", "Esel") if n % step == 0 else line for n, line in enumerate(REFERENCES)
    ]


def history(*perplexities: float) -> History:
    return History(
        tuple(
            Line(
                step=n,
                epoch=0.1,
                tokens=n,
                learning_rate=0.1,
                loss=2.0,
                dev_loss=1.0,
                dev_perplexity=p,
            )
            for n, p in enumerate(perplexities, 1)
        )
    )


@pytest.fixture
def project(tmp_path: Path, describe: Callable[..., None]) -> Path:
    """Dev set, hypotheses and histories; the last dev perplexity is the run's ERROR_STEP."""
    text = tmp_path / "data/text/en-de"
    text.mkdir(parents=True)
    (tmp_path / "history").mkdir()
    content = "".join(f"{line}\n" for line in REFERENCES).encode()
    (text / "dev.target").write_bytes(content)
    describe(text, dev="demo-dev")
    for run, step in ERROR_STEP.items():
        (tmp_path / "outputs" / run).mkdir(parents=True)
        lines = "".join(f"{line}\n" for line in hypotheses(run))
        (tmp_path / "outputs" / run / "dev.hypotheses").write_text(lines, encoding="utf-8")
        write(tmp_path / paths.history(run), history(99, step))
    return tmp_path


@pytest.fixture
def compare(project: Path) -> Compare:
    """compare_variations over these runs."""

    def with_runs(runs: dict[str, Any], base: str = "base", **design: Any) -> Comparison:
        params = yaml.load((ROOT / "params.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
        row = params["models"]["base"]
        params["models"] |= {name: copy.deepcopy(row) for name in ("wide", "deep", "D_smooth00")}
        params |= {"runs": runs, "tested": [*runs]}
        params["variations"] = {"task": "en-de", "base": base, **design}
        (project / "params.yaml").write_text(
            yaml.dump(params, sort_keys=False, Dumper=yaml.CSafeDumper)
        )
        loaded = config.load(project / "params.yaml")
        counts = count_sentences(loaded.variations, loaded.runs, project)
        sentence_counts.write(project / paths.SENTENCE_COUNTS, counts)
        stored_counts = sentence_counts.read(project / paths.SENTENCE_COUNTS)
        further = further_scores(loaded.variations, loaded.runs, project)
        return compare_variations(loaded.variations, loaded.runs, stored_counts, further, project)

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


@pytest.mark.slow
def test_one_seed_equals_sacrebleus_command(
    compare: Compare, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    found = compare(RUNS)
    assert (found.task, found.base, found.split) == ("en-de", "base", "dev")
    assert (found.test_set.pairs, list(found.test_set.corpora)) == (40, ["demo-dev"])
    assert "tok:13a" in found.signature
    # in the order of the runs, other tasks left out
    assert list(found.models) == ["base", "wide", "deep"]
    base = found.models["base"]
    assert base.seeds["1"].sentences is None
    assert (base.perplexity.mean, base.perplexity.sd) == (4, None)
    # deep has no base with its seed: it is compared with the first base
    for model, seed in (("wide", "1"), ("deep", "3")):
        entry = found.models[model].seeds[seed]
        first, second, p_value = sacrebleus_command(project, "en-de.base", f"en-de.{model}")
        assert entry.run == f"en-de.{model}"
        assert base.seeds["1"].bleu == pytest.approx(first, abs=0.005)
        assert entry.bleu == pytest.approx(second, abs=0.005)
        assert entry.sentences
        assert entry.sentences.difference == pytest.approx(second - first, abs=0.005)
        assert entry.sentences.p_value == pytest.approx(p_value, abs=5e-5)


def test_one_seed_is_undecided(compare: Compare) -> None:
    """Even if it is significant over sentences."""
    found = compare(RUNS)
    for model, reason in (("wide", "one seed"), ("deep", "no seed in common")):
        bleu = found.models[model].bleu
        assert (bleu.effect, bleu.outcome, bleu.why_not_tested) == (None, "undecided", reason)


def test_seeds_are_paired_with_their_own_base(compare: Compare, project: Path) -> None:
    found = compare(RUNS | SECOND_SEEDS)
    wide = found.models["wide"]
    assert [entry.run for entry in wide.seeds.values()] == ["en-de.wide", "en-de.wide2"]
    for seed, name in (("1", "wide"), ("2", "wide2")):
        base = f"en-de.base{name.removeprefix('wide')}"
        first, second, p_value = sacrebleus_command(project, base, f"en-de.{name}")
        sentences = wide.seeds[seed].sentences
        assert sentences
        assert sentences.difference == pytest.approx(second - first, abs=0.005)
        assert sentences.p_value == pytest.approx(p_value, abs=5e-5)
    # of 3 and 7: mean 5, sample deviation sqrt((2² + 2²) / 1)
    assert wide.perplexity.mean == 5
    assert wide.perplexity.sd == pytest.approx(8**0.5, abs=1e-4)
    assert found.models["base"].seeds.keys() == {"1", "2"}
    assert found.models["base"].seeds["2"].sentences is None


def test_perplexity_is_judged_by_its_logarithm(compare: Compare) -> None:
    """The paired t of ln 3, ln 7 against ln 4, ln 5, and back to a ratio."""
    expected = stats.ttest_rel(np.log([3, 7]), np.log([4, 5]))
    effect = compare(RUNS | SECOND_SEEDS).models["wide"].perplexity.effect
    assert effect
    assert effect.value == pytest.approx(math.sqrt(21 / 20), abs=1e-4)
    assert effect.p_value == pytest.approx(expected.pvalue, abs=1e-6)
    assert effect.corrected >= effect.p_value


def test_a_further_metric_is_compared_in_a_family_of_its_own(
    compare: Compare, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = compare(RUNS | SECOND_SEEDS)
    assert (before.models["wide"].further, before.models["wide"].seeds["1"].further) == ({}, {})
    ter = Metric(
        name="ter", label="TER", score=by_sacrebleu(TER, math.inf), higher_is_better=False,
        compared=True,
    )  # fmt: skip
    metrics = (*TRANSLATION_METRICS, ter)
    monkeypatch.setattr("aiayn.evaluation.variations.TRANSLATION_METRICS", metrics)
    found = compare(RUNS | SECOND_SEEDS)

    # a word of nine is another in 14 (of 40, every third) and 6 sentences, in 10 and 8 of the base
    wide, base = found.models["wide"], found.models["base"]
    expected = {"wide": [100 * 14 / 360, 100 * 6 / 360], "base": [100 * 10 / 360, 100 * 8 / 360]}
    for name, model in (("wide", wide), ("base", base)):
        scores = [entry.further["ter"] for entry in model.seeds.values()]
        assert scores == pytest.approx(expected[name], abs=1e-3)
        assert model.further["ter"].mean == pytest.approx(np.mean(expected[name]), abs=1e-3)
    effect = wide.further["ter"].effect
    assert effect
    assert effect.value == pytest.approx(100 / 360, abs=1e-3)
    test = stats.ttest_rel(expected["wide"], expected["base"])
    assert effect.p_value == pytest.approx(test.pvalue, abs=1e-3)
    assert effect.corrected == effect.p_value  # deep cannot be tested: it has no seed in common
    assert base.further["ter"].effect is None

    plain: dict[str, Measure] = {"perplexity": wide.perplexity, "bleu": wide.bleu}
    assert plain == {name: getattr(before.models["wide"], name) for name in plain}
    frame = comparisons_frame(found)
    assert list(frame[frame["model"] == "wide"]["measure"]) == ["perplexity", "bleu", "ter"]
    comparison.write(project / paths.TABLE_3, found)
    assert rederive(project).differences == ()


def test_both_families_are_corrected_for_looks(compare: Compare, project: Path) -> None:
    """Table 3 and the statements: label smoothing's perplexity, with wide as its row."""
    runs = {
        name: run | ({"model": "D_smooth00"} if run["model"] == "wide" else {})
        for name, run in (RUNS | SECOND_SEEDS).items()
    }
    for name, perplexity in (("en-de.wide", 40.0), ("en-de.wide2", 41.0)):
        write(project / paths.history(name), history(99, perplexity))
    once, first = (compare(runs, interim_looks=looks) for looks in ([], [2, 4]))
    row, statement = "D_smooth00", "smoothing_perplexity"
    for alone, early in (
        (once.models[row].perplexity.effect, first.models[row].perplexity.effect),
        (once.findings[statement].effect, first.findings[statement].effect),
    ):
        assert alone
        assert early
        assert early.p_value == alone.p_value
        assert early.corrected > alone.corrected


def test_the_preregistered_comparison(
    compare: Compare, project: Path, describe: Callable[..., None]
) -> None:
    """Fresh seeds, averaged weights, dev and test as one set: sacreBLEU over both files agrees."""
    text, outputs = project / "data/text/en-de", project / "outputs"
    test_references = [line.replace("Wald", "Park") for line in REFERENCES]
    (text / "test.target").write_text("".join(f"{line}\n" for line in test_references))
    describe(text, dev="demo-dev", test="demo-test")
    hypotheses_by_run = {}
    for run, folder in ((run, outputs / run) for run in ERROR_STEP):
        lines = hypotheses(run)
        hypotheses_by_run[run] = lines[::-1] + [line.replace("Wald", "Park") for line in lines]
        (folder / "dev.averaged.hypotheses").write_text("".join(f"{x}\n" for x in lines[::-1]))
        parks = "".join(f"{line.replace('Wald', 'Park')}\n" for line in lines)
        (folder / "test.hypotheses").write_text(parks)
    declared = {
        "commit": "1a2b3c4", "seeds": [2], "weights": "averaged", "splits": ["dev", "test"],
        "margin_bleu": 0.5, "margin_log_perplexity": 0.03, "statements": {},
    }  # fmt: skip
    found = compare(RUNS | SECOND_SEEDS, preregistration=declared)
    assert (found.preregistration, found.split, found.findings) == ("1a2b3c4", "dev+test", {})
    assert (found.test_set.pairs, list(found.test_set.corpora)) == (80, ["demo-dev", "demo-test"])
    assert {model: list(entry.seeds) for model, entry in found.models.items()} == {
        "base": ["2"], "wide": ["2"],
    }  # fmt: skip
    for model in ("base", "wide"):
        expected = (
            BLEU()
            .corpus_score(hypotheses_by_run[f"en-de.{model}2"], [REFERENCES + test_references])
            .score
        )
        assert found.models[model].bleu.mean == pytest.approx(expected, abs=1e-4)


def test_a_duplicate_run_counts_once(compare: Compare, project: Path) -> None:
    duplicates = {"en-de.wide2": {**RUNS["en-de.wide"]}, "en-de.base2": {**RUNS["en-de.base"]}}
    assert compare(RUNS | duplicates).models == compare(RUNS).models


def test_a_base_alone_is_scored(compare: Compare) -> None:
    found = compare({"en-de.base": RUNS["en-de.base"]})
    (entry,) = found.models["base"].seeds.values()
    assert entry.bleu == compare(RUNS).models["base"].seeds["1"].bleu
    assert "tok:13a" in found.signature


def test_no_run_of_the_base(compare: Compare) -> None:
    """That has been decoded."""
    runs = RUNS | {"en-de.big": {**RUNS["en-de.base"], "model": "big"}}
    message = "^params.yaml: variations.base is big, but no run of it on en-de has been decoded"
    with pytest.raises(ScoreError, match=message):
        compare(runs, base="big")


def test_missing_hypotheses(compare: Compare, project: Path) -> None:
    path = project / "outputs/en-de.deep/dev.hypotheses"
    path.unlink()
    with pytest.raises(DataError) as error:
        compare(RUNS)
    assert str(error.value).startswith(f"{path}: there is no such file.")
    assert str(error.value).endswith("dvc repro -f decode@en-de.deep.")


def test_a_seed_without_outputs_is_left_out(compare: Compare, project: Path) -> None:
    """A run that has not been decoded; one whose file is missing is an error, as above."""
    shutil.rmtree(project / "outputs/en-de.wide2")
    (project / paths.history("en-de.wide2")).unlink()
    found = compare(RUNS | SECOND_SEEDS)
    assert (list(found.models["wide"].seeds), list(found.models["base"].seeds)) == (
        ["1"],
        ["1", "2"],
    )
    assert found.models["wide"].bleu.why_not_tested == "one seed"
    shutil.rmtree(project / "outputs/en-de.base")
    shutil.rmtree(project / "outputs/en-de.base2")
    with pytest.raises(ScoreError, match="no run of it on en-de has been decoded"):
        compare(RUNS | SECOND_SEEDS)


@pytest.mark.slow
def test_the_stage_is_reproducible(compare: Compare, project: Path) -> None:
    compare(RUNS)
    shutil.copy(ROOT / "dvc.yaml", project)

    def run() -> bytes:
        command = [sys.executable, str(ROOT / "pipeline/compare.py")]
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        return (project / "comparisons/table_3.json").read_bytes()

    first = run()
    found = read(project / "comparisons/table_3.json")
    assert found.model_dump() == compare(RUNS).model_dump()  # without the sources of the figures
    assert run() == first
