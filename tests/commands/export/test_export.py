"""`aiayn export` in a project: its files, its model card, its errors."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml

from aiayn import config
from aiayn.commands import main
from aiayn.config import Model
from aiayn.data.bpe.vocabulary import Bpe, train_bpe
from aiayn.decoding.text import translate
from aiayn.decoding.weights import load_model
from aiayn.model.checkpoints import save_weights
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer
from aiayn.results.checkpoints import Weights

RUN = "en-de.base"
SENTENCES = ["A dog sleeps in the sun.", "", "Two men are walking."]
LENGTH_PENALTY = "- the paper divides a hypothesis' log-probability by ((5 + length) / 6)^0.6, "
ORDER = "- both sum in float32 in another order"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(
    tmp_path: Path, tiny: Callable[..., Model], describe: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:  # fmt: skip
    """The demo's parameters with a small untrained base, its text and its hypotheses."""
    params = yaml.load((Path(__file__).parents[3] / "params.yaml").read_text(), yaml.CSafeLoader)
    row = tiny()
    params["models"]["base"] = params["models"]["E_learned"] = row.columns
    params["models"]["E_learned"] = row.columns | {"positions": "learned"}
    for name, columns in (("B_dk16", {"d_k": 4}), ("R_r4", {"neighbourhood": 4})):
        params["models"][name] = row.columns | columns
        params["runs"][f"en-de.{name}"] = params["runs"][RUN] | {"model": name}
    params["tasks"]["en-de"]["decoding"]["extra_length"] = 4
    (tmp_path / "params.yaml").write_text(
        yaml.dump(params, sort_keys=False, Dumper=yaml.CSafeDumper)
    )
    text = tmp_path / "data/text/en-de"
    text.mkdir(parents=True)
    lines = "".join(f"{sentence}\n" for sentence in SENTENCES)
    for split in ("train", "dev", "test"):
        for side in ("source", "target"):
            (text / f"{split}.{side}").write_text(lines)
    describe(text, train="a-corpus", dev="a-dev-set", test="a-test-set")
    (tmp_path / "data/bpe").mkdir()
    spec = config.Bpe(vocabulary=290, normalization="identity")
    train_bpe([text / "train.source"], tmp_path / "data/bpe/en-de", spec)
    bpe = Bpe(tmp_path / "data/bpe/en-de/model.model")
    torch.manual_seed(3)
    weights = tmp_path / f"models/{RUN}/averaged.safetensors"
    model = Transformer(row, bpe.size, max_length=32)
    about = Weights(run=RUN, model=row.columns, seed=1, max_length=32, step=8)
    save_weights(weights, model.state_dict(), about)
    monkeypatch.chdir(tmp_path)
    device = Device(torch.device("cpu"), "float32")
    decoding = config.load().task("en-de").search
    found = translate(load_model(weights, row, bpe.size, device), bpe, SENTENCES, decoding, device)
    (tmp_path / f"outputs/{RUN}").mkdir(parents=True)
    for split in ("dev", "test"):
        hypotheses = tmp_path / f"outputs/{RUN}/{split}.hypotheses"
        hypotheses.write_text("".join(f"{line}\n" for line in found))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["ctranslate2", "transformers"])
@pytest.mark.filterwarnings("default")  # the libraries' own warnings
def test_the_folder_and_its_card(project: Path, engine: str, capsys: Capture) -> None:
    pytest.importorskip(engine, reason=f"the extra {engine} is not installed")
    main(["export", RUN, "--to", engine])
    message = capsys.readouterr().out
    folder = project / f"exports/{RUN}.{engine}"
    card = (folder / "README.md").read_text()
    front, body = card.split("---\n")[1:3]
    assert yaml.load(front, yaml.CSafeLoader)["library_name"] == engine
    assert "of 3 hypotheses are the same" in message
    assert f"{RUN}, for {engine}" in body
    assert "a-corpus: 3 pairs" in body
    assert "a-test-set, 3 sentences" in body
    assert "- bleu: `nrefs:1|" in body
    assert "((5 + length) / 6)^0.6" in body
    assert {path.name for path in (project / "exports").iterdir()} == {folder.name}


@pytest.mark.parametrize(
    ("same", "expected"),
    [
        (3, "All 3 hypotheses are the same. Those of other sentences can differ because\n\n"),
        (2, "2 of 3 hypotheses are the same. The others differ because\n\n"),
    ],
)
def test_the_card_counts_the_same_hypotheses(
    project: Path, monkeypatch: pytest.MonkeyPatch, same: int, expected: str
) -> None:
    """With an engine that translates as this project does, except for the last sentence."""
    ours = (project / f"outputs/{RUN}/test.hypotheses").read_text().splitlines()
    theirs = [line for line, source in zip(ours, SENTENCES, strict=True) if source]
    if same < 3:
        theirs[-1] += " and more"
    engine = types.SimpleNamespace(write=lambda *_: None, translate=lambda *_: theirs)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "1.0")
    for name, difference in (("transformers", LENGTH_PENALTY), ("onnx", ORDER)):
        monkeypatch.setitem(sys.modules, f"aiayn.commands.export.to_{name}", engine)
        main(["export", RUN, "--to", name])
        card = (project / f"exports/{RUN}.{name}/README.md").read_text()
        assert expected + difference in card


def test_the_model_in_the_package_needs_no_text(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its card has the package's description of it; and only one engine can search as this project does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "1.0")
    engine = types.SimpleNamespace(write=lambda *_: None)
    monkeypatch.setitem(sys.modules, "aiayn.commands.export.to_onnx", engine)
    main(["export", "shipped", "--to", "onnx"])
    card = (tmp_path / "exports/shipped.onnx/README.md").read_text()
    assert "sentences of tatoeba.org" in card
    assert "hypotheses are the same" not in card
    assert "Export it --to onnx" in export_error(capsys, "shipped", "--to", "ctranslate2")


def export_error(capsys: Capture, *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(["export", *arguments])
    assert caught.value.code not in (0, None)
    message = str(caught.value.code)
    assert "\n" not in message
    return message


def test_what_cannot_be_exported_is_a_one_line_error(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = ("--to", "transformers")
    assert "parsing.parser does not translate" in export_error(capsys, "parsing.parser", *to)
    assert "has learned positions" in export_error(capsys, "en-de.E_learned", *to)
    for engine in ("ctranslate2", "transformers"):
        message = export_error(capsys, "en-de.R_r4", "--to", engine)
        assert "en-de.R_r4 has neighbourhood 4: only models of the paper can be exported" in message
        message = export_error(capsys, "en-de.B_dk16", "--to", engine)
        assert "en-de.B_dk16 has heads of d_k 4 and d_v 8" in message
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install -e '.[transformers]'" in export_error(capsys, RUN, *to)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "aiayn.commands.export.to_transformers", sys)
    hypotheses = project / f"outputs/{RUN}/test.hypotheses"
    hypotheses.write_text("Ein Hund.\n")
    assert "has 1 lines and data/text/en-de/test.target has 3. Decode again" in export_error(
        capsys, RUN, *to
    )
    hypotheses.unlink()
    assert f"dvc repro -f decode@{RUN}" in export_error(capsys, RUN, *to)
    (project / f"models/{RUN}/averaged.safetensors").unlink()
    assert f"dvc repro average@{RUN}" in export_error(capsys, RUN, *to)
    assert not (project / "exports").exists()
