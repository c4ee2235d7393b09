"""`aiayn translate`, `parse` and `classify` with untrained models: what they print, and how they fail."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.commands.trained_run.conftest import (
    CLASSIFIER,
    LABELS,
    PARSER,
    RUN,
    SENTENCES,
    UNTESTED,
    WEIGHTS,
    Capture,
    expected,
)

import aiayn
from aiayn import config
from aiayn.commands import main
from aiayn.config import Decoding
from aiayn.data.trees.reading import read_tree
from aiayn.decoding.text import translate
from aiayn.errors import DataError
from aiayn.model.checkpoints import load_weights, save_weights


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
    params = config.load()
    text = params.tasks["en-de"].text.replace(form="lowercased_tokens")
    tasks = {**params.tasks, "en-de": params.tasks["en-de"].replace(text=text)}
    monkeypatch.setattr(config, "load", lambda *_: params.replace(tasks=tasks))
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
def test_an_output_that_is_no_tree_over_the_words_is_repaired(
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


def test_beam_and_alpha_are_taken_from_the_options(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        ([PARSER, "x"], "ConfigError: parsing.parser does not translate, it parses. Use aiayn parse."),
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
        ([RUN, "x", "--beam", "1000000"], "ConfigError: beam must be less than or equal to 1000"),
        ([RUN, "x", "--alpha", "1e308"], "ConfigError: alpha must be less than or equal to 50"),
        ([RUN, "x", "--attention", "."], "IsADirectoryError: Is a directory: ."),
        ([RUN, "--input", "/dev/zero"], "DataError: /dev/zero: more than 256 MiB."),
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


def test_weights_with_a_huge_max_length(project: Path, tmp_path: Path) -> None:
    weights = project / "models" / WEIGHTS[0]
    original = weights.rename(tmp_path / weights.name)
    try:
        tensors, about = load_weights(original)
        save_weights(weights, tensors, about.model_copy(update={"max_length": 10**12}))
        message = "CheckpointError: models/en-de.base/averaged.safetensors: max_length must be less"
        with pytest.raises(SystemExit, match=message):
            main(["translate", RUN, "x"])
    finally:
        original.replace(weights)


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


def test_a_classifier_does_nothing_else(project: Path) -> None:
    with pytest.raises(SystemExit, match="does not translate, it classifies. Use aiayn classify."):
        main(["translate", CLASSIFIER, "x"])
    with pytest.raises(SystemExit, match="does not classify, it translates. Use aiayn translate."):
        main(["classify", RUN, "x"])


@pytest.mark.parametrize("run", [RUN, CLASSIFIER])
def test_an_empty_sentence_has_no_attention(project: Path, run: str) -> None:
    with pytest.raises(DataError, match="the sentence is empty"):
        aiayn.load(run).attention(" ")


def test_a_translating_run_does_not_parse(project: Path) -> None:
    with pytest.raises(SystemExit, match="^ConfigError: en-de.base does not parse, it translates"):
        main(["parse", RUN, "x"])


def test_weights_with_nan(project: Path, tmp_path: Path) -> None:
    weights = project / "models" / WEIGHTS[0]
    original = weights.rename(tmp_path / weights.name)
    try:
        tensors, about = load_weights(original)
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
        original.replace(weights)


def test_verifying_a_folder_that_is_not_a_reproduction(project: Path, capsys: Capture) -> None:
    """One that does not exist, or has other content."""
    for folder in ("reproductions/demmo", "models"):
        with pytest.raises(SystemExit, match="^2$"):
            main(["verify", folder])
        error = capsys.readouterr().err
        assert error.startswith(f"DataError: {folder}: not a reproduction, it has no scores/.")
        assert error.count("\n") == 1


def test_ctrl_c_is_no_error(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("aiayn.trained_run.translate", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main(["translate", RUN, *SENTENCES])
    assert capsys.readouterr().err == "Stopped.\n"
