"""A project with untrained models."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml

from aiayn import config
from aiayn.config import Decoding, Model
from aiayn.data.bpe.vocabulary import Bpe, train_bpe
from aiayn.decoding.text import translate
from aiayn.decoding.weights import load_model
from aiayn.model.checkpoints import save_weights
from aiayn.model.classifier import Classifier
from aiayn.model.device import open_device
from aiayn.model.transformer import Transformer
from aiayn.results.checkpoints import Weights

RUN = "en-de.base"
UNTESTED = "en-de.C_N2"
PARSER = "parsing.parser"
CLASSIFIER = "who-acts.classifier"
LABELS = ("elle", "elles", "il", "ils", "je")  # sorted, as in the vocabulary
SENTENCES = ["A dog sleeps in the sun.", "Two men are walking."]
WEIGHTS = (
    f"{RUN}/averaged.safetensors",
    f"{RUN}/checkpoints/step-0000008.safetensors",
    f"{PARSER}/averaged.safetensors",
    f"{UNTESTED}/averaged.safetensors",  # from a graph in which it was tested: not to be used
    f"{UNTESTED}/checkpoints/step-0000006.safetensors",
    f"{UNTESTED}/checkpoints/step-0000008.safetensors",
)
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def project_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """params.yaml, a vocabulary, and untrained weights."""
    root = tmp_path_factory.mktemp("project")
    params = yaml.load((Path(__file__).parents[3] / "params.yaml").read_text(), yaml.CSafeLoader)
    row = Model(
        N=2, d_model=16, d_ff=32, h=2, d_k=8, d_v=8, P_drop=0.1, eps_ls=0.1, steps=8,
        positions="sinusoid", average=2, checkpoint_steps=2,
    )  # fmt: skip
    for name in ("base", "C_N2", "parser", "classifier"):
        params["models"][name] = row.columns
    for task in params["tasks"].values():
        if task["decoding"]:
            task["decoding"]["extra_length"] = 4
    (root / "params.yaml").write_text(yaml.dump(params, sort_keys=False, Dumper=yaml.CSafeDumper))
    text = root / "text"
    text.write_text("".join(f"{sentence}\n" for sentence in SENTENCES * 5))
    (root / "data/bpe").mkdir(parents=True)
    bpe = config.Bpe(vocabulary=300, normalization="identity")
    for task in ("en-de", "parsing", "who-acts"):
        train_bpe([text], root / "data/bpe" / task, bpe)
    size = Bpe(root / "data/bpe/en-de/model.model").size
    for seed, weights in enumerate(WEIGHTS):
        torch.manual_seed(10 + seed)
        model = Transformer(row, size, max_length=32)
        path = root / "models" / weights
        path.parent.mkdir(parents=True, exist_ok=True)
        about = Weights(run=path.parent.name, model=row.columns, seed=1, max_length=32, step=8)
        save_weights(path, model.state_dict(), about)
    path = root / "models" / CLASSIFIER / "averaged.safetensors"
    path.parent.mkdir(parents=True)
    classifier = Classifier(row, size, len(LABELS), max_length=32)
    save_weights(path, classifier.state_dict(), about.replace(run=CLASSIFIER))
    return root


@pytest.fixture
def project(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project_folder)
    return project_folder


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def feed(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return feed


def expected(project: Path, decoding: Decoding, weights: str = WEIGHTS[0]) -> list[str]:
    """What the stage decode would write with these weights."""
    row = config.load().model_of(RUN)
    device = open_device("cpu", "float32", d_model=row.d_model)
    bpe = Bpe(project / "data/bpe/en-de/model.model")
    path = project / "models" / weights
    return translate(load_model(path, row, bpe.size, device), bpe, SENTENCES, decoding, device)
