"""The command aiayn over a project with an untrained model: what it prints, and how it fails."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

import aiayn
from aiayn import config
from aiayn.commands import main
from aiayn.config import Decoding, Model
from aiayn.data.bpe.vocabulary import Bpe, train_bpe
from aiayn.data.trees.reading import read_tree
from aiayn.decoding.text import translate
from aiayn.decoding.weights import load_model
from aiayn.errors import DataError
from aiayn.model.checkpoints import load_weights, save_weights
from aiayn.model.classifier import Classifier
from aiayn.model.device import open_device
from aiayn.model.transformer import Transformer
from aiayn.results.checkpoints import Weights
from aiayn.trained_run import TrainedRun

RUN = "en-de.base"
UNTESTED = "en-de.C_N2"
PARSER = "parsing.parser"
CLASSIFIER = "who-acts.classifier"
LABELS = ("elle", "elles", "il", "ils", "je")  # as the vocabulary has them: sorted
SENTENCES = ["A dog sleeps in the sun.", "Two men are walking."]
WEIGHTS = (
    f"{RUN}/averaged.safetensors",
    f"{RUN}/checkpoints/step-0000008.safetensors",
    f"{PARSER}/averaged.safetensors",
    f"{UNTESTED}/averaged.safetensors",  # of a graph in which it was tested: not to be taken
    f"{UNTESTED}/checkpoints/step-0000006.safetensors",
    f"{UNTESTED}/checkpoints/step-0000008.safetensors",
)
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """params.yaml, a vocabulary, and weights as they were drawn."""
    root = tmp_path_factory.mktemp("project")
    params = yaml.load((Path(__file__).parents[2] / "params.yaml").read_text(), yaml.CSafeLoader)
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
def project(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


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


def test_arguments_a_file_and_stdin_are_translated_alike(
    project: Path, tmp_path: Path, stdin: Callable[[bytes], None], capsys: Capture
) -> None:
    expected_output = "".join(
        f"{t}\n" for t in expected(project, config.load().task("en-de").search)
    )
    assert expected_output.strip()
    lines = "".join(f"{sentence}\n" for sentence in SENTENCES)
    (tmp_path / "in.txt").write_text(lines)
    stdin(lines.encode())
    for arguments in (SENTENCES, ["--input", str(tmp_path / "in.txt")], []):
        main(["translate", RUN, *arguments])
        assert capsys.readouterr() == (expected_output, "")


def test_words_that_the_vocabulary_hardly_has_are_named(project: Path, capsys: Capture) -> None:
    main(["translate", RUN, *SENTENCES[:1], "A quetzalcoatlus sleeps.", "A dog 漢字, zyzzyvas"])
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 3
    assert printed.err == (
        "the sentences given, line 2: words that the model hardly knows: quetzalcoatlus\n"
        "the sentences given, line 3: words that the model hardly knows: 漢字, zyzzyvas\n"
    )
    main(["translate", RUN, *["漢字"] * 12])
    assert capsys.readouterr().err.endswith("given: 2 more lines with such words\n")


def test_a_run_that_is_not_tested_translates_with_its_last_checkpoint(
    project: Path, capsys: Capture
) -> None:
    by_weights = {w: expected(project, config.load().task("en-de").search, w) for w in WEIGHTS}
    assert by_weights[WEIGHTS[5]] not in (by_weights[WEIGHTS[3]], by_weights[WEIGHTS[4]])
    main(["translate", UNTESTED, *SENTENCES])
    assert capsys.readouterr().out.splitlines() == by_weights[WEIGHTS[5]]


def test_a_run_that_was_trained_on_gpus_translates_without_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In float32, as the stage decode."""
    params = config.load()
    machine = params.machine.replace(device="cuda", precision="bfloat16")
    monkeypatch.setattr(config, "load", lambda path=None: params.replace(machine=machine))
    found = aiayn.load(RUN).translate(SENTENCES)
    assert found == expected(project, params.task("en-de").search)


@pytest.mark.slow
def test_a_parse_is_a_tree_over_the_words_of_the_input(project: Path, capsys: Capture) -> None:
    main(["parse", PARSER, "A dog ( here ) sleeps .", "", "Two men"])
    first, second, third = capsys.readouterr().out.split("\n")[:3]
    assert read_tree(first, "first").words == ("A", "dog", "-LRB-", "here", "-RRB-", "sleeps", ".")
    assert second == ""
    assert read_tree(third, "third").words == ("Two", "men")


def test_sentences_are_normalized_as_in_training(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    asked = config.load()
    text = asked.tasks["en-de"].text.replace(form="lowercased_tokens")
    tasks = {**asked.tasks, "en-de": asked.tasks["en-de"].replace(text=text)}
    monkeypatch.setattr(config, "load", lambda *_: asked.replace(tasks=tasks))
    monkeypatch.setattr("aiayn.trained_run.translate", lambda *arguments: list(arguments[2]))
    main(["translate", RUN, "A dog, asleep."])
    assert capsys.readouterr().out == "a dog , asleep .\n"


@pytest.mark.parametrize(
    ("output", "tree"),
    [
        ("(S (NP (DT) (NN) )NP (VP (VBZ) )VP )S", "(TOP (S (NP (DT A) (NN dog)) (VP (VBZ sleeps))))"),
        ("(S (NP (DT) (NN) )NP", "(TOP (S (NP (DT A) (NN dog)) (XX sleeps)))"),
        ("(S (DT) (NN) (VBZ) (.) )S", "(TOP (S (DT A) (NN dog) (VBZ sleeps)))"),
        ("", "(TOP (XX A) (XX dog) (XX sleeps))"),
    ],
)  # fmt: skip
def test_what_is_no_tree_over_the_words_is_repaired(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, output: str, tree: str
) -> None:
    monkeypatch.setattr("aiayn.trained_run.translate", lambda *arguments: [output])
    main(["parse", PARSER, "A dog sleeps"])
    assert capsys.readouterr().out == f"{tree}\n"


def test_the_first_tree_is_drawn(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "new/tree.svg"
    main(["parse", PARSER, " ", "Two men walk", "Another sentence", "--svg", str(out)])
    texts = {node.text for node in ET.parse(out).iter() if node.tag.endswith("text")}
    assert {"TOP", "Two", "men", "walk"} <= texts
    assert "Another" not in texts


@pytest.mark.slow
def test_a_reader_that_stops_early_gets_no_error(project: Path) -> None:
    source = Path(__file__).parents[2] / "src"
    process = subprocess.Popen(
        [sys.executable, "-m", "aiayn", "translate", RUN, *SENTENCES],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    error_text = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), error_text) == (1, b"")


def test_beam_and_alpha_are_the_options(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Decoding] = []

    def watched(*arguments: Any) -> list[str]:
        used.append(arguments[3])
        return translate(*arguments)

    monkeypatch.setattr("aiayn.trained_run.translate", watched)
    main(["translate", RUN, "x", "--beam", "1", "--alpha", "0"])
    main(["translate", RUN, "x", "--beam", "2"])
    assert used == [
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
    ("arguments", "message"),
    [
        (["en-de.bsae", "x"], "ConfigError: params.yaml: there is no run 'en-de.bsae'. Did you mean en-de.base?"),
        ([PARSER, "x"], "ConfigError: parsing.parser does not translate, it parses: aiayn parse parsing.parser"),
        (["en-de.A_h1", "x"], "there are no checkpoints. Train first: dvc repro train@en-de.A_h1"),
        (["en-de.big", "x"], "has no weights yet. Train it: dvc repro average@en-de.big"),
        ([RUN], "DataError: stdin: there is no sentence."),
        ([RUN, " "], "there is no sentence."),
        ([RUN, "x", "--input", "y"], "ConfigError: give sentences or --input, not both."),
        ([RUN, "--input", "absent.txt"], "DataError: absent.txt: there is no such file."),
        ([RUN, ""], "DataError: the sentences given: there is no sentence."),
        ([RUN, "caf\udce9"], "DataError: the sentences given: not UTF-8 at byte 3."),
        (["en-de.\udcff", "x"], "ConfigError: params.yaml: there is no run 'en-de.\\udcff'."),
        ([RUN, "--input", "models"], "DataError: models: is a folder. Give a file"),
        ([RUN, "--input", "a\nb"], "DataError: a\\nb: there is no such file."),
        ([RUN, "x", "--beam", "0"], "ConfigError: beam must be greater than 0, not 0."),
        ([RUN, "x", "--alpha", "nan"], "ConfigError: alpha must be a finite number"),
        ([RUN, "x", "--alpha", "inf"], "ConfigError: alpha must be a finite number"),
    ],
)  # fmt: skip
def test_errors_are_one_line(
    project: Path, stdin: Callable[[bytes], None], arguments: list[str], message: str
) -> None:
    stdin(b"\n")
    with pytest.raises(SystemExit) as caught:
        main(["translate", *arguments])
    assert message in str(caught.value.code)
    assert "\n" not in str(caught.value.code)


@pytest.mark.parametrize(
    ("command", "run"), [("translate", RUN), ("parse", PARSER), ("classify", CLASSIFIER)]
)
def test_a_line_of_too_many_pieces_is_reported_and_left_empty(
    project: Path, stdin: Callable[[bytes], None], capsys: Capture, command: str, run: str
) -> None:
    """Attention over 30,000 pieces would take 28.8 GB."""
    lines = [SENTENCES[0], "z " * 30_000, SENTENCES[1]]
    stdin("\n".join([lines[0], "", lines[2]]).encode())
    main([command, run])
    expected_output = capsys.readouterr().out
    stdin("\n".join(lines).encode())
    with pytest.raises(SystemExit, match="^1$"):
        main([command, run])
    printed = capsys.readouterr()
    assert printed.out == expected_output
    assert printed.out.split("\n")[1] == ""
    assert re.fullmatch(
        r"stdin, line 2 has 60,00[01] pieces; the limit is 4,096. Split it into sentences.\n",
        printed.err,
    )


def test_only_lines_of_too_many_pieces(project: Path) -> None:
    with pytest.raises(
        SystemExit, match="DataError: the sentences given: all sentences are empty or too long"
    ):
        main(["translate", RUN, "z " * 5000])
    with pytest.raises(DataError, match="^sentence 2 has 10,001 pieces"):
        TrainedRun(RUN).translate(["", "z " * 5000])


def test_a_file_of_windows_is_read_as_the_same_text(
    project: Path, stdin: Callable[[bytes], None], capsys: Capture
) -> None:
    """Which begins with a byte order mark and ends lines with CR and LF."""
    text = "".join(f"{sentence}\n" for sentence in SENTENCES)
    outputs = []
    for content in (text.encode(), text.replace("\n", "\r\n").encode("utf-8-sig")):
        stdin(content)
        main(["translate", RUN])
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 2


@pytest.mark.slow
def test_output_is_utf8_whatever_the_locale(project: Path) -> None:
    source = Path(__file__).parents[2] / "src"
    ascii_alone = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    code = (
        "import aiayn.trained_run as t; t.translate = lambda *a: list(a[2])\n"
        f"from aiayn.commands import main; main(['translate', {RUN!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="café\n".encode(),
        capture_output=True,
        check=False,
        env={**os.environ, **ascii_alone, "PYTHONPATH": str(source)},
    )
    assert (done.returncode, done.stdout) == (0, "café\n".encode())
    assert done.stderr in (b"", b"stdin, line 1: words that the model hardly knows: caf\\xe9\n")


def test_weights_of_endless_sentences(project: Path, tmp_path: Path) -> None:
    weights = project / "models" / WEIGHTS[0]
    kept = weights.rename(tmp_path / weights.name)
    try:
        tensors, about = load_weights(kept)
        save_weights(weights, tensors, about.model_copy(update={"max_length": 10**12}))
        message = "CheckpointError: models/en-de.base/averaged.safetensors: max_length must be less"
        with pytest.raises(SystemExit, match=message):
            main(["translate", RUN, "x"])
    finally:
        kept.replace(weights)


@pytest.mark.slow
def test_a_label_and_the_probability_of_each(
    project: Path, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "attention.svg"
    main(["classify", CLASSIFIER, SENTENCES[0], "", "sun " * 1000, "--attention", str(out)])
    lines = capsys.readouterr().out.split("\n")
    assert lines[1] == lines[3] == ""
    for line in (lines[0], lines[2]):
        label, *parts = line.split("\t")
        likely = {name: float(p) for name, p in (text.split(" ") for text in parts)}
        assert tuple(likely) == LABELS
        assert likely[label] == max(likely.values())
        assert sum(likely.values()) == pytest.approx(1, abs=0.0005)
    texts = {node.text for node in ET.parse(out).iter() if node.tag.endswith("text")}
    assert {"layer 1, head 1", "layer 2, head 2", "</s>"} <= texts


def test_a_run_that_labels_does_nothing_else(project: Path) -> None:
    with pytest.raises(SystemExit, match="does not translate, it classifies: aiayn classify who-a"):
        main(["translate", CLASSIFIER, "x"])
    with pytest.raises(SystemExit, match="does not classify, it translates: aiayn translate en-de"):
        main(["classify", RUN, "x"])


def test_a_translating_run_does_not_parse(project: Path) -> None:
    with pytest.raises(SystemExit, match="^ConfigError: en-de.base does not parse, it translates"):
        main(["parse", RUN, "x"])


def test_bytes_that_are_not_utf8_are_one_clear_line(
    project: Path, stdin: Callable[[bytes], None]
) -> None:
    stdin(b"a\xff\n")
    with pytest.raises(SystemExit, match="DataError: stdin: not UTF-8 at byte 1"):
        main(["translate", RUN])


def test_sentences_out_of_a_pipe(project: Path, tmp_path: Path, capsys: Capture) -> None:
    main(["translate", RUN, *SENTENCES])
    expected_output = capsys.readouterr()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = "".join(f"{sentence}\n" for sentence in SENTENCES)
    writer = threading.Thread(target=pipe.write_text, args=[content])
    writer.start()
    main(["translate", RUN, "--input", str(pipe)])
    writer.join()
    assert capsys.readouterr() == expected_output


def test_weights_with_nan(project: Path, tmp_path: Path) -> None:
    weights = project / "models" / WEIGHTS[0]
    kept = weights.rename(tmp_path / weights.name)
    try:
        tensors, about = load_weights(kept)
        name = next(name for name, tensor in tensors.items() if tensor.dim() == 2)
        tensors[name] = tensors[name].clone()
        tensors[name][0, 0] = float("nan")
        save_weights(weights, tensors, about)
        message = (
            "CheckpointError: models/en-de.base/averaged.safetensors: .* has NaN or infinite values"
        )
        with pytest.raises(SystemExit, match=message):
            main(["translate", RUN, *SENTENCES])
    finally:
        kept.replace(weights)


def test_verifying_a_folder_that_is_not_a_reproduction(project: Path, capsys: Capture) -> None:
    """Neither one that does not exist, nor one of something else."""
    for folder in ("reproductions/demmo", "models"):
        with pytest.raises(SystemExit, match="^2$"):
            main(["verify", folder])
        assert capsys.readouterr().err == (
            f"DataError: {folder}/scores: no scores. Name a folder that `aiayn publish` wrote.\n"
        )


def test_ctrl_c_is_no_error(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("aiayn.trained_run.translate", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main(["translate", RUN, *SENTENCES])
    assert capsys.readouterr().err == "Stopped.\n"
