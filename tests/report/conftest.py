"""A hand-made project: two tasks, four runs, scores and curves typed or generated here."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aiayn import config
from aiayn.paper import PAPER
from aiayn.report.evidence import Evidence
from aiayn.results import metadata
from aiayn.results.metadata import TrainingMetadata
from aiayn.results.text import RAW, Manifest, Part, Split, write_manifest

ROOT = Path(__file__).parents[2]
BASE = {
    "N": 6, "d_model": 512, "d_ff": 2048, "h": 8, "P_drop": 0.1, "eps_ls": 0.1,
    "steps": 100000, "positions": "sinusoid", "average": 5, "checkpoint_steps": 1500,
}  # fmt: skip
BIG = {
    **BASE,
    "d_model": 1024,
    "d_ff": 4096,
    "h": 16,
    "P_drop": 0.3,
    "steps": 300000,
    "average": 20,
    "checkpoint_steps": 600,
}
PARTS = {
    "de": ("europarl-v7", "commoncrawl", "news-commentary-v9"),
    "fr": ("europarl-v7", "commoncrawl", "news-commentary-v9", "un", "giga"),
}
# typed from WMT 2014's task page; the sums after cleaning from section 5.1
PAIRS = {
    "de": ((1_920_209, 2_399_123, 201_288), 4_508_785),
    "fr": ((2_007_723, 3_244_152, 183_251, 12_886_831, 22_520_376), 35_509_317),
}
CATALOGUE = yaml.load(
    (ROOT / "conf/catalogue/wmt14.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
RECIPE = {
    "batch_tokens": 25000, "micro_batches": 8, "max_length": 256, "warmup_steps": 4000,
    "learning_rate_scale": 1.0, "adam": {"beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9},
}  # fmt: skip

EXPONENTS = {
    "self_attention": {"n": 2, "d": 1},
    "recurrent": {"n": 1, "d": 2},
    "convolutional": {"k": 1, "n": 1, "d": 2},
    "restricted": {"r": 1, "n": 1, "d": 1},
}
PATHS = {
    "self_attention": {"n": 0},
    "recurrent": {"n": 1},
    "convolutional": {"n": 1, "k": -1},
    "dilated": {"log_k_n": 1},
    "restricted": {"n": 1, "r": -1},
}
# counted by hand: a signal crosses 7 or 15 positions, at most 1 per layer, or with dilated kernels 3,
# which triples with each layer
LAYERS = {
    "self_attention": {8: 1, 16: 1},
    "recurrent": {8: 8, 16: 16},
    "convolutional": {8: 7, 16: 15},
    "dilated": {8: 2, 16: 3},
    "restricted": {8: 7, 16: 15},
}
DIGESTS = {"source": "5a" * 32, "target": "7b" * 32}
FIXED = {"n": 100, "d": 512, "k": 3, "r": 64}

Json = dict[str, Any]
Params = Json


def score(value: float, signature: str = "hand-made") -> dict[str, Any]:
    return {"value": value, "low": value - 0.5, "high": value + 0.5, "signature": signature}


def _scores(run: str, corpus: str, pairs: int, bleu: float) -> dict[str, Any]:
    entry = {
        "set": {"corpora": {corpus: {"pairs": pairs}}, "pairs": pairs, "sha256": DIGESTS},
        "bleu": score(bleu - 1),
        "chrf": score(bleu + 20),
        "tokenized_bleu": score(bleu),
        "lowercased_bleu": score(bleu + 0.25),
    }  # fmt: skip
    if run.startswith("en-de"):
        entry["tokenized_bleu"], entry["compound_split_bleu"] = score(bleu - 0.75), score(bleu)
    task, _, model = run.partition(".")
    return {"run": run, "task": task, "model": model, "splits": {"test": entry}}


def params(training: Callable[[str], list[str]], test: Callable[[str], str]) -> Params:
    """The repository's own params.yaml with other corpora, and with the paper's models."""
    data: Params = yaml.load((ROOT / "params.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    grammar = {"split": "test", "sentences": 1, "seed": 1}
    task = data["tasks"]["en-de"]
    data["tasks"], data["catalogue"]["corpora"] = {}, {}
    for language in ("de", "fr"):
        new_task = data["tasks"][f"en-{language}"] = copy.deepcopy(task)
        names = [*training(language), test(language)]
        data["catalogue"]["corpora"] |= {name: {"grammar": grammar} for name in names}
        new_task["text"] |= {"target": language, "train": training(language), "dev": names[0]}
        new_task["text"]["tests"] = {"test": test(language)}
    data["models"] = {"base": dict(BASE), "big": dict(BIG), "big_fr": {**BIG, "P_drop": 0.1}}
    data["runs"] = {
        "en-de.base": {"task": "en-de", "model": "base", "seed": 1},
        "en-de.big": {"task": "en-de", "model": "big", "seed": 1},
        "en-fr.base": {"task": "en-fr", "model": "base", "seed": 1},
        "en-fr.big": {"task": "en-fr", "model": "big_fr", "seed": 1},
    }
    data["tested"] = list(data["runs"])
    data["variations"] = {"task": "en-de", "base": "base"}
    data["training"] |= RECIPE
    for language, vocabulary in (("de", 37000), ("fr", 32000)):
        new_task = data["tasks"][f"en-{language}"]
        new_task["bpe"]["vocabulary"] = vocabulary
        new_task["decoding"] = {"beam": 4, "alpha": 0.6, "extra_length": 50}
    return data


def _manifest(language: str) -> Manifest:
    """The manifest of the paper's training text for a language pair, with the published counts."""
    counts, kept = PAIRS[language]
    names = [f"{part}-{language}-en" for part in PARTS[language]]
    corpora = {
        name: Part(pairs=pairs, kept=pairs, dropped={})
        for name, pairs in zip(names, counts, strict=True)
    }
    sha256 = {"source": "1e" * 32, "target": "2f" * 32}
    words = {"source": 1, "target": 1}

    def held_out(name: str) -> Split:
        return Split(corpora={name: Part(pairs=3003)}, pairs=3003, words=words, sha256=DIGESTS)

    return Manifest(
        task=f"en-{language}",
        languages={"source": "en", "target": language},
        form=RAW,
        cleaning={},
        downloads=CATALOGUE["downloads"],
        splits={
            "train": Split(corpora=corpora, pairs=kept, words=words, sha256=sha256),
            "dev": held_out(names[0]),
            "test": held_out(f"newstest2014-{language}-en"),
        },
    )


@pytest.fixture
def manifests() -> dict[str, Manifest]:
    """The manifests of the paper's own text, by task."""
    return {f"en-{language}": _manifest(language) for language in PAIRS}


@pytest.fixture
def scores_file() -> Callable[[str, str, int, float], dict[str, Any]]:
    """Makes the content of a score file from run, corpus, pairs and BLEU by the paper's protocol."""
    return _scores


@pytest.fixture
def wmt14() -> Params:
    """Parameters under which every cell of table 2 may be judged."""
    return params(
        lambda language: [f"{part}-{language}-en" for part in PARTS[language]],
        lambda language: f"newstest2014-{language}-en",
    )


@pytest.fixture
def toy() -> Params:
    """Parameters of a toy scale, with the paper's model sizes but none of its sentences."""
    return params(lambda language: ["toy-train"], lambda language: "toy-test")


@pytest.fixture
def load(tmp_path: Path) -> Callable[[Params], config.Config]:
    def load_params(data: Params) -> config.Config:
        path = tmp_path / "params.yaml"
        path.write_text(yaml.dump(data, sort_keys=False, Dumper=yaml.CSafeDumper), encoding="utf-8")
        return config.load(path)

    return load_params


@pytest.fixture
def evidence(
    tmp_path: Path, load: Callable[[Params], config.Config], toy: Params
) -> Callable[..., Evidence]:
    """Makes what the report reads, empty except for the arguments."""

    def make(**fields: Any) -> Evidence:
        defaults: dict[str, Any] = {
            "root": tmp_path, "config": fields.get("config") or load(toy), "paper": PAPER,
            "scores": {}, "histories": {}, "manifests": {}, "layers": None, "models": None,
            "variations": None,
        }  # fmt: skip
        return Evidence(**(defaults | fields))

    return make


@pytest.fixture
def project(tmp_path: Path, manifests: dict[str, Manifest]) -> Callable[..., Path]:
    """Writes a project to a folder: params.yaml, and all outputs of each scored run."""

    def make(data: Params, scores: dict[str, dict[str, Any]]) -> Path:
        (tmp_path / "params.yaml").write_text(
            yaml.dump(data, sort_keys=False, Dumper=yaml.CSafeDumper), encoding="utf-8"
        )
        for name, task in data["tasks"].items():
            folder = tmp_path / "data/text" / name
            folder.mkdir(parents=True)
            corpora = manifests[name].splits["train"].corpora if name in manifests else {}
            if set(task["text"]["train"]) == set(corpora):
                write_manifest(folder / "manifest.json", manifests[name])
            for side in ("source", "target"):
                lines = [f"{side} {task['text'][side]} {number}" for number in range(1, 41)]
                (folder / f"test.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for run, content in scores.items():
            for folder in ("scores", "history", "run_metadata", f"outputs/{run}"):
                (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / f"scores/{run}.json").write_text(json.dumps(content), encoding="utf-8")
            steps = data["models"][data["runs"][run]["model"]]["steps"]
            curve = HISTORY.format(last=steps)
            (tmp_path / f"history/{run}.csv").write_text(curve, encoding="utf-8")
            metadata.write(tmp_path / f"run_metadata/{run}.train.json", TRAINED)
            hypotheses = [f"hypothesis of {run} {number}" for number in range(1, 41)]
            (tmp_path / f"outputs/{run}/test.hypotheses").write_text("\n".join(hypotheses) + "\n")
        return tmp_path

    return make


TRAINED = TrainingMetadata(
    host="an-invented-host", device="cpu: 2 x An Invented Processor", python="3.11.0",
    versions={"torch": "0.0.1"}, commit="unknown", fingerprint="f1", seconds=12.5,
    validation_seconds=0.5, tokens_per_second=250, starts=1, started="2017-06-12T00:00:00+00:00",
    ended="2017-06-12T00:00:13+00:00", processes=1, threads=2, precision="float32",
    matmul="highest", padding_share=0.05, parameters=1000,
)  # fmt: skip


@pytest.fixture
def trained() -> TrainingMetadata:
    """Run metadata of a training that was never run."""
    return TRAINED


HISTORY = """\
step,epoch,tokens,learning_rate,loss,dev_loss,dev_perplexity
10,0.1,1000,0.0005,6.5,,
20,0.2,2000,0.001,5.25,5.0,148.41
{last},0.3,3000,0.0008,4.5,4.25,70.11
"""


def fit(value: float, error: float = 0.0) -> Json:
    return {"value": value, "standard_error": error}


def counts(exponents: dict[str, int]) -> Json:
    sizes = [{**FIXED, "n": n} for n in (10, 100)] + [{**FIXED, "d": d} for d in (64, 512)]
    points = {}
    for size in sizes:
        term = 1
        for letter, power in exponents.items():
            term *= size[letter] ** power
        key = "_".join(f"{letter}{value}" for letter, value in size.items())
        points[key] = {**size, "h": 8, "term": term, "layer": 2 * term}
    return {
        "points": points,
        "exponents": {s: {"term": fit(e), "layer": fit(e / 2, 0.25)} for s, e in exponents.items()},
        "paper": exponents,
    }


def chain(slope: int) -> Json:
    operations = {f"n{n}": slope * n + 3 for n in (4, 8)}
    return {"operations": operations, "intercept": fit(3.0), "slope": fit(float(slope))}


def path(exponents: dict[str, int], layers: dict[int, int]) -> Json:
    """`layers` by n, at a kernel or neighbourhood of 3 where the stack has one."""
    size = next((s for s in exponents if s in "kr"), "k" if "log_k_n" in exponents else None)
    points = {
        f"n{n}": {"n": n, "layers": count, **({size: 3} if size else {})}
        for n, count in layers.items()
    }
    fits = {s: fit(e + 0.04, 0.02) for s, e in exponents.items()}
    return {"points": points, "exponents": fits, "paper": exponents}


@pytest.fixture
def layers_json() -> Json:
    """A generated profile of layers."""
    band = ["110", "111", "011"]
    return {
        "heads": 8,
        "fixed": FIXED,
        "counts": {name: counts(exponents) for name, exponents in EXPONENTS.items()},
        "chains": {name: chain(3 if name == "recurrent" else 0) for name in EXPONENTS},
        "paths": {name: path(exponents, LAYERS[name]) for name, exponents in PATHS.items()},
        "maps": {
            "k": 3,
            "r": 4,
            **{name: {"layers1": band, "layers2": ["111"] * 3} for name in PATHS},
        },
    }
