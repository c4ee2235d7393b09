"""A trained run's use from the shell: it translates, parses or classifies the sentences given."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aiayn import config
from aiayn.data.trees.linear import restore, tags_of
from aiayn.errors import CheckpointError, ConfigError, DataError
from aiayn.files import write_atomically
from aiayn.results import places

if TYPE_CHECKING:
    from aiayn.config import Config, Kind
    from aiayn.data.bpe.vocabulary import Bpe
    from aiayn.data.trees.tree import Tree
    from aiayn.model.device import Device
    from aiayn.model.transformer import Transformer


def _translate(parsed: argparse.Namespace) -> list[str]:
    params = config.load()
    _require("translate", params, parsed.run)
    sentences = _sentences(parsed.text, parsed.input)
    text = params.task_of(parsed.run).text
    if text.form is not None:
        from aiayn.data.moses import normalized

        sentences = normalized(sentences, text.source)
    return _decode(params, parsed, sentences)


def _parse(parsed: argparse.Namespace) -> list[str]:
    """A bracketed tree over each sentence's words; an empty line for an empty sentence."""
    params = config.load()
    _require("parse", params, parsed.run)
    sentences = [
        sentence.replace("(", "-LRB-").replace(")", "-RRB-")
        for sentence in _sentences(parsed.text, parsed.input)
    ]
    outputs = _decode(params, parsed, sentences)
    trees = [
        _restored_tree(output.split(), sentence.split())
        for output, sentence in zip(outputs, sentences, strict=True)
    ]
    if parsed.svg:
        from aiayn.report.table_4.parse_trees import draw_tree

        write_atomically(parsed.svg, draw_tree(next(tree for tree in trees if tree.words)))
    return [str(tree) if tree.words else "" for tree in trees]


def _classify(parsed: argparse.Namespace) -> list[str]:
    """Of each sentence its label and every label's probability; an empty line for an empty one."""
    from aiayn.data.tokens.labels import in_order
    from aiayn.decoding.labels import guesses, probabilities
    from aiayn.decoding.weights import load_classifier

    params = config.load()
    _require("classify", params, parsed.run)
    sentences = [sentence.strip() for sentence in _sentences(parsed.text, parsed.input)]
    names = in_order(params.task_of(parsed.run).text.labels or ())
    weights, bpe, device = _open(params, parsed.run)
    row = params.model_of(parsed.run)
    model = load_classifier(weights, row, bpe.size, len(names), device)
    found = probabilities(model, bpe, sentences, device)
    labels = [guess.label for guess in guesses(found, names)]
    if parsed.attention:
        from aiayn.illustrations.attention import label_maps
        from aiayn.report.sections.attention_figures import draw_attention

        first = next(n for n, sentence in enumerate(sentences) if sentence)
        task = params.run(parsed.run).task
        maps = label_maps(model, bpe, sentences[first], labels[first], run=parsed.run, task=task)
        write_atomically(parsed.attention, draw_attention(maps, "encoder"))
    return [
        "\t".join([label, *(f"{name} {p:.4f}" for name, p in zip(names, row_, strict=True))])
        if sentence
        else ""
        for sentence, label, row_ in zip(sentences, labels, found, strict=True)
    ]


USES: Mapping[str, Callable[[argparse.Namespace], list[str]]] = {
    "translate": _translate,
    "parse": _parse,
    "classify": _classify,
}
WHAT_RUNS_DO: Mapping[Kind, tuple[str, str]] = {
    "translation": ("translate", "translates"),
    "parsing": ("parse", "parses"),
    "copying": ("translate", "copies"),
    "classification": ("classify", "classifies"),
}


def _require(command: str, params: Config, run: str) -> None:
    """Raises ConfigError, with the command that suits it, where a run does something else."""
    own, does = WHAT_RUNS_DO[params.task_of(run).kind]
    if own != command:
        raise ConfigError(f"{run} does not {command}, it {does}: aiayn {own} {run}")


def _restored_tree(symbols: Sequence[str], words: Sequence[str]) -> Tree:
    """The tree over these words that a model's symbols tell, repaired if need be as for scores.

    Parts of speech are the model's own, in their order; words beyond its last leaf have DUMMY.
    """
    return restore(symbols, words, tags_of(symbols, len(words))).tree


def _decode(params: Config, parsed: argparse.Namespace, sentences: Sequence[str]) -> list[str]:
    """What the run makes of the sentences; draws the attention if that is asked for."""
    from aiayn.decoding.text import translate
    from aiayn.decoding.weights import load_model

    decoding = params.task_of(parsed.run).search
    chosen = {"beam": parsed.beam, "alpha": parsed.alpha}
    decoding = replace(decoding, **{k: v for k, v in chosen.items() if v is not None})
    if decoding.beam < 1 or not 0 <= decoding.alpha < math.inf:
        raise ConfigError("--beam must be at least 1, and --alpha a number from 0 on.")
    weights, bpe, device = _open(params, parsed.run)
    model = load_model(weights, params.model_of(parsed.run), bpe.size, device)
    outputs = translate(model, bpe, sentences, decoding, device)
    if parsed.attention:
        first = next(n for n, sentence in enumerate(sentences) if sentence.strip())
        _draw(params, parsed, model, bpe, sentences[first], outputs[first])
    return outputs


def _sentences(texts: Sequence[str], file: Path | None) -> list[str]:
    """From the arguments, a file or standard input. Raises DataError if there is nothing."""
    if texts and file:
        raise ConfigError("give sentences or --input, not both.")
    if texts:
        place = "the sentences given"
        # the shell passes bytes, which Python keeps even where they are no text
        sentences = _lines(os.fsencode("\n".join(" ".join(t.split("\n")) for t in texts)), place)
    elif file:
        place = str(file)
        if file.is_dir():
            raise DataError(f"{file}: is a folder. Name a file of sentences, one a line.")
        if not file.exists():
            raise DataError(f"{file}: there is no such file.")
        sentences = _lines(file.read_bytes(), place)
    else:
        place = "stdin"
        if sys.stdin.isatty():
            print("Sentences, one a line; Ctrl-D ends.", file=sys.stderr)
        sentences = _lines(sys.stdin.buffer.read(), place)
    if not any(sentence.strip() for sentence in sentences):
        raise DataError(f"{place}: there is no sentence.")
    return sentences


def _lines(content: bytes, place: str) -> list[str]:
    """What a user gave, as only a newline parts it. Raises DataError if it is not UTF-8."""
    try:
        return content.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 at byte {error.start}.") from error


def _open(params: Config, name: str) -> tuple[Path, Bpe, Device]:
    """A run's weights and what they need: the averaged ones if it is tested, else the last.

    Raises:
        ConfigError: params.yaml has no such run.
        CheckpointError: the run has no weights yet.
    """
    from aiayn.data.bpe.vocabulary import Bpe
    from aiayn.decoding.weights import weights_in
    from aiayn.model.device import open_device

    row = params.model_of(name)
    is_tested = name in params.tested
    weights = weights_in(places.model(name), averaged=is_tested)
    if not weights.exists():
        raise CheckpointError(
            f"{weights}: the run {name} has no weights yet. Make them: dvc repro average@{name}, "
            "or, if they were made elsewhere: dvc pull."
        )
    machine = params.machine
    device = open_device(
        machine.device, machine.precision, d_model=row.d_model, threads=machine.threads
    )
    bpe = Bpe(places.bpe_model(places.vocabulary(params.run(name).task)))
    return weights, bpe, device


def _draw(
    params: Config,
    parsed: argparse.Namespace,
    model: Transformer,
    bpe: Bpe,
    sentence: str,
    translation: str,
) -> None:
    from aiayn.illustrations.attention import sentence_maps
    from aiayn.report.sections.attention_figures import draw_attention

    task = params.run(parsed.run).task
    maps = sentence_maps(model, bpe, sentence, translation, run=parsed.run, task=task)
    write_atomically(parsed.attention, draw_attention(maps, parsed.kind))
