"""The command aiayn over a project with an untrained model: what it prints, and how it fails."""

from __future__ import annotations

import io
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from aiayn import config
from aiayn.command import main
from aiayn.config import Decoding, Model
from aiayn.decoding.text import translate
from aiayn.model.checkpoints import load_model, save_tensors
from aiayn.model.device import open_device
from aiayn.model.transformer import Transformer
from aiayn.tokens.bpe import Bpe, train_bpe

RUN = "en-de.base"
SENTENCES = ["A dog sleeps in the sun.", "Two men are walking."]
Said = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """params.yaml, a vocabulary, and weights as they were drawn."""
    root = tmp_path_factory.mktemp("project")
    params = yaml.safe_load((Path(__file__).parents[2] / "params.yaml").read_text())
    row = Model(
        N=2, d_model=16, d_ff=32, h=2, P_drop=0.1, eps_ls=0.1, steps=8, positions="sinusoid",
        average=2,
    )  # fmt: skip
    params["models"]["base"] = asdict(row)
    params["tasks"]["en-de"]["decoding"]["extra_length"] = 4
    (root / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    text = root / "text"
    text.write_text("".join(f"{sentence}\n" for sentence in SENTENCES * 5))
    folder = root / "data/bpe/en-de"
    folder.parent.mkdir(parents=True)
    train_bpe([text], folder, config.Bpe(vocabulary=300, normalization="identity"))
    torch.manual_seed(5)
    model = Transformer(row, Bpe(folder / "model.model").size, max_length=32)
    (root / "models" / RUN).mkdir(parents=True)
    weights = root / "models" / RUN / "averaged.safetensors"
    save_tensors(weights, model.state_dict(), {"max_length": 32, "step": 8})
    return root


@pytest.fixture
def project(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def feed(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return feed


def expected(project: Path, decoding: Decoding) -> list[str]:
    """What the stage decode would write."""
    row = config.load().model_of(RUN)
    device = open_device("cpu", "float32", d_model=row.d_model)
    bpe = Bpe(project / "data/bpe/en-de/model.model")
    weights = project / "models" / RUN / "averaged.safetensors"
    return translate(load_model(weights, row, bpe.size, device), bpe, SENTENCES, decoding, device)


def test_arguments_a_file_and_stdin_are_translated_alike(
    project: Path, tmp_path: Path, stdin: Callable[[bytes], None], capsys: Said
) -> None:
    wanted = "".join(f"{t}\n" for t in expected(project, config.load().task("en-de").decoding))
    assert wanted.strip()
    lines = "".join(f"{sentence}\n" for sentence in SENTENCES)
    (tmp_path / "in.txt").write_text(lines)
    stdin(lines.encode())
    for arguments in (SENTENCES, ["--input", str(tmp_path / "in.txt")], []):
        main(["translate", RUN, *arguments])
        assert capsys.readouterr() == (wanted, "")


def test_beam_and_alpha_are_those_asked_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Decoding] = []

    def watched(*arguments: Any) -> list[str]:
        asked.append(arguments[3])
        return translate(*arguments)

    monkeypatch.setattr("aiayn.decoding.text.translate", watched)
    main(["translate", RUN, "x", "--beam", "1", "--alpha", "0"])
    main(["translate", RUN, "x", "--beam", "2"])
    assert asked == [
        Decoding(beam=1, alpha=0.0, extra_length=4),
        Decoding(beam=2, alpha=0.6, extra_length=4),
    ]


@pytest.mark.parametrize(("kind", "rows"), [("cross", "<s>"), ("encoder", "</s>")])
def test_attention_is_drawn(project: Path, tmp_path: Path, kind: str, rows: str) -> None:
    out = tmp_path / "new/attention.svg"
    main(["translate", RUN, SENTENCES[0], "--attention", str(out), "--kind", kind])
    texts = {node.text for node in ET.parse(out).iter() if node.tag.endswith("text")}
    assert {"layer 1, head 1", "layer 2, head 2", rows} <= texts


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["en-de.bsae", "x"], "ConfigError: params.yaml: there is no run 'en-de.bsae'. Did you mean en-de.base?"),
        (["en-de.big", "x"], "has no weights yet. Make them: dvc repro average@en-de.big"),
        ([RUN], "DataError: stdin: no sentence to translate."),
        ([RUN, " "], "no sentence to translate."),
        ([RUN, "x", "--input", "y"], "ConfigError: give sentences or --input, not both."),
        ([RUN, "--input", "absent.txt"], "DataError: absent.txt: there is no such file."),
        ([RUN, "x", "--beam", "0"], "ConfigError: --beam must be at least 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_clear_line(
    project: Path, stdin: Callable[[bytes], None], arguments: list[str], said: str
) -> None:
    stdin(b"\n")
    with pytest.raises(SystemExit) as caught:
        main(["translate", *arguments])
    assert said in str(caught.value.code)
    assert "\n" not in str(caught.value.code)


def test_bytes_that_are_not_utf8_are_one_clear_line(
    project: Path, stdin: Callable[[bytes], None]
) -> None:
    stdin(b"a\xff\n")
    with pytest.raises(SystemExit, match="DataError: stdin: not UTF-8 at byte 1"):
        main(["translate", RUN])
