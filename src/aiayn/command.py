"""The command `aiayn`: use a trained run from the shell, in the project's folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aiayn import config
from aiayn.errors import CheckpointError, ConfigError, DataError, one_line_errors
from aiayn.files import write_atomically

if TYPE_CHECKING:
    from aiayn.config import Decoding
    from aiayn.model.device import Device
    from aiayn.model.transformer import Transformer
    from aiayn.tokens.bpe import Bpe

KINDS = ("encoder", "decoder", "cross")


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and do what it says."""
    parsed = _parser().parse_args(arguments)
    if parsed.command == "sync":
        _sync()
    else:
        _translate(parsed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="aiayn", description="Use the trained runs of a project.")
    commands = parser.add_subparsers(dest="command", required=True)
    translate = commands.add_parser("translate", help="translate lines of text with a trained run")
    translate.add_argument("run", help="a run of params.yaml, like en-de.base")
    translate.add_argument("text", nargs="*", help="a sentence each; without any, lines of stdin")
    translate.add_argument("--input", type=Path, metavar="FILE", help="a file of sentences")
    translate.add_argument("--beam", type=int, help="hypotheses kept (default: the task's)")
    translate.add_argument("--alpha", type=float, help="length penalty (default: the task's)")
    translate.add_argument(
        "--attention", type=Path, metavar="SVG", help="draw the attention over the first sentence"
    )
    translate.add_argument(
        "--kind", choices=KINDS, default="cross", help="which attention is drawn (default: cross)"
    )
    commands.add_parser("sync", help="bring finished runs into the MLflow store")
    return parser


def _translate(parsed: argparse.Namespace) -> None:
    from aiayn.decoding.text import translate

    sentences = _sentences(parsed.text, parsed.input)
    model, bpe, decoding, device = _open(parsed.run)
    chosen = {"beam": parsed.beam, "alpha": parsed.alpha}
    decoding = replace(decoding, **{k: v for k, v in chosen.items() if v is not None})
    if decoding.beam < 1 or decoding.alpha < 0:
        raise ConfigError("--beam must be at least 1, and --alpha must not be negative.")
    translations = translate(model, bpe, sentences, decoding, device)
    for line in translations:
        print(line)
    if parsed.attention:
        first = next(n for n, sentence in enumerate(sentences) if sentence.strip())
        _draw(parsed.attention, parsed.kind, model, bpe, sentences[first], translations[first])


def _sentences(texts: Sequence[str], file: Path | None) -> list[str]:
    """From the arguments, a file or standard input. Raises DataError if there is nothing."""
    from aiayn.decoding.text import read_sentences

    if texts and file:
        raise ConfigError("give sentences or --input, not both.")
    if texts:
        sentences = [" ".join(text.split("\n")) for text in texts]
    elif file:
        if not file.is_file():
            raise DataError(f"{file}: there is no such file.")
        sentences = read_sentences(file)
    else:
        if sys.stdin.isatty():
            print("Sentences, one a line; Ctrl-D ends.", file=sys.stderr)
        try:
            sentences = sys.stdin.buffer.read().decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError as error:
            raise DataError(f"stdin: not UTF-8 at byte {error.start}.") from error
    if not any(sentence.strip() for sentence in sentences):
        raise DataError(f"{file or 'stdin'}: no sentence to translate.")
    return sentences


def _open(name: str) -> tuple[Transformer, Bpe, Decoding, Device]:
    """A run's averaged model with what it needs.

    Raises:
        ConfigError: params.yaml has no such run.
        CheckpointError: the run has no weights yet.
    """
    from aiayn.model.checkpoints import load_model
    from aiayn.model.device import open_device
    from aiayn.tokens.bpe import Bpe

    params = config.load()
    run, row = params.run(name), params.model_of(name)
    weights = Path("models", name, "averaged.safetensors")
    if not weights.exists():
        raise CheckpointError(
            f"{weights}: the run {name} has no weights yet. Make them: dvc repro average@{name}, "
            "or, if they were made elsewhere: dvc pull."
        )
    settings = params.training
    device = open_device(settings.device, settings.precision, d_model=row.d_model)
    bpe = Bpe(Path("data/bpe", run.task, "model.model"))
    return load_model(weights, row, bpe.size, device), bpe, params.task(run.task).decoding, device


def _draw(
    path: Path, kind: str, model: Transformer, bpe: Bpe, sentence: str, translation: str
) -> None:
    from aiayn.illustrations.attention import sentence_maps
    from aiayn.report.attention_figures import attention_map, draw_attention

    maps = sentence_maps(model, bpe, sentence, translation)
    write_atomically(path, draw_attention(attention_map(maps, kind)))


def _sync() -> None:
    from aiayn.tracking.connection import StoreError, store_name
    from aiayn.tracking.sync import sync

    try:
        done = sync(config.load())
    except StoreError as error:
        sys.exit(f"MLflow at {store_name()}: {error}.")
    for complaint in done.complaints:
        print(f"MLflow: {complaint}", file=sys.stderr)
    print(done)


if __name__ == "__main__":
    main()
