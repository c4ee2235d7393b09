"""The command line `aiayn`: each subcommand's arguments, and the function that runs it.

A function imports what it needs itself: `aiayn --help` waits for no heavy import.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from aiayn import config
from aiayn.errors import ConfigError, DataError, one_line_errors, printable
from aiayn.files import write_atomically
from aiayn.results import places
from aiayn.results.illustrations import KINDS
from aiayn.trained_run import TrainedRun


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run its subcommand."""
    parsed = parser().parse_args(arguments)
    parsed.function(parsed)


def parser() -> ArgumentParser:
    """The parser of the whole command line; an error is one line, with exit status 2."""
    root = _Parser(prog="aiayn", description="Run the experiments, and use their trained models.")
    version = f"aiayn {importlib.metadata.version('aiayn')}"
    root.add_argument("--version", action="version", version=version)
    subparsers = root.add_subparsers(dest="command", required=True)

    def add(
        name: str, function: Callable[[Namespace], None], help: str, description: str = ""
    ) -> ArgumentParser:
        command = subparsers.add_parser(name, help=help, description=description or None)
        command.set_defaults(function=function)
        return command

    command = add("translate", _translate, "translate lines of text with a trained run")
    _add_input_options(command)
    _add_attention_option(command)
    _add_search_options(command)

    command = add(
        "parse",
        _parse,
        "parse sentences with a trained run",
        "Prints a bracketed tree in the format of the Penn Treebank for each sentence. Words are "
        f"separated by spaces, as in {places.lines(places.text('TASK'), '*', 'source')}: commas, "
        "full stops and the n't of a verb are words. Brackets become -LRB- and -RRB-.",
    )
    _add_input_options(command)
    _add_attention_option(command)
    _add_search_options(command)
    command.add_argument("--svg", type=Path, metavar="FILE", help="draw the first sentence's tree")

    command = add(
        "classify",
        _classify,
        "label sentences with a trained run",
        "Prints the label of each sentence and the probability of every label, separated by tabs; "
        "an empty line for an empty sentence.",
    )
    _add_input_options(command)
    _add_attention_option(command)
    command.set_defaults(beam=None, alpha=None, kind="encoder")

    command = add(
        "repro",
        _repro,
        "run the pipeline, several stages in parallel",
        "Does what `dvc repro` does, with the same outputs, several stages at a time.",
    )
    command.add_argument("stages", nargs="*", help="run these and what they need; default: all")
    command.add_argument(
        "--jobs", type=_positive, help="stages in parallel (default: cores / machine.threads)"
    )

    command = add(
        "verify",
        _verify,
        "compare the results here with a published reproduction",
        "Compares every published figure with the one here (the same, inside or outside the "
        "published interval) and lists what differs in code, data, parameters, versions and "
        "machine. Exit status 0: nothing is outside, missing or damaged; 1: something is; 2: "
        "there is nothing to compare.",
    )
    command.add_argument(
        "reproduction", type=Path, help=f"a folder, like {places.REPRODUCTIONS}/multi30k"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="also write a JSON file")
    command.add_argument("--page", type=Path, metavar="FILE", help="also write an HTML page")

    command = add(
        "export",
        _export,
        "write a trained run in the format of another engine",
        f"Writes {places.EXPORTS}/RUN.ENGINE with a model card, and translates the test set with "
        "the engine, whose beam search differs. Each engine is an extra of this package.",
    )
    command.add_argument("run", help="a run of params.yaml, like en-de.base")
    command.add_argument("--to", required=True, choices=("ctranslate2", "transformers"))

    command = add(
        "rehearse",
        _rehearse,
        "check this machine before a long run",
        "Runs every stage of a scale with small models on generated text, then reports the "
        "memory, disk and time of the real run and what this machine is missing. Downloads "
        "nothing, changes nothing. Exit status 1: a stage failed or something is missing.",
    )
    command.add_argument(
        "scale", nargs="?", help="a file of conf/scale (default: conf/config.yaml's)"
    )

    add("sync", _sync, "mirror finished runs to the MLflow store")
    return root


def _translate(args: Namespace) -> None:
    run, sentences = _run_and_sentences(args, "translate")
    outputs = run.translate(sentences, beam=args.beam, alpha=args.alpha)
    _draw_attention(args, run, sentences)
    _print(outputs)


def _parse(args: Namespace) -> None:
    run, sentences = _run_and_sentences(args, "parse")
    trees = run.parse(sentences, beam=args.beam, alpha=args.alpha)
    _draw_attention(args, run, sentences)
    if args.svg:
        from aiayn.report.table_4.parse_trees import draw_tree

        write_atomically(args.svg, draw_tree(next(tree for tree in trees if tree.words)))
    _print(str(tree) if tree.words else "" for tree in trees)


def _classify(args: Namespace) -> None:
    run, sentences = _run_and_sentences(args, "classify")
    lines = []
    for likely in run.classify(sentences):
        label = max(likely, key=likely.__getitem__, default="")
        lines.append("\t".join([label, *(f"{name} {p:.4f}" for name, p in likely.items())]))
    _draw_attention(args, run, sentences)
    _print(lines)


def _repro(args: Namespace) -> None:
    from aiayn.commands.repro.parallel import repro

    repro(args.stages, args.jobs)


def _verify(args: Namespace) -> None:
    from aiayn.commands.verification import verify
    from aiayn.commands.verification.cells import NoReproductionError

    try:
        verification = verify.verify(args.reproduction, Path())
    except NoReproductionError as error:
        print(printable(f"DataError: {error}"), file=sys.stderr)
        sys.exit(verify.NOTHING_COMPARES)
    if args.json:
        write_atomically(args.json, verify.to_json(verification))
    if args.page:
        write_atomically(args.page, verify.to_html(verification))
    _print(verify.to_lines(verification))
    sys.exit(verification.status)


def _export(args: Namespace) -> None:
    from aiayn.commands.export.export import export

    done = export(config.load(), args.run, args.to)
    for name, theirs in done.theirs.items():
        ours = done.ours[name]
        print(f"{done.split} {name}: {theirs.value:.2f} by {args.to}, {ours.value:.2f} by aiayn")
    print(f"{done.same} of {done.sentences} hypotheses are the same.")
    print(f"How to use it: {places.card(done.folder)}")


def _rehearse(args: Namespace) -> None:
    from aiayn.commands.rehearsal.rehearse import rehearse

    sys.exit(0 if rehearse(Path(), args.scale) else 1)


def _sync(args: Namespace) -> None:
    from aiayn.tracking.store import StoreError, store_name
    from aiayn.tracking.sync import sync

    try:
        done = sync(config.load())
    except StoreError as error:
        sys.exit(f"MLflow at {store_name()}: {error}.")
    for warning in done.warnings:
        print(f"MLflow: {warning}", file=sys.stderr)
    print(done)


def _run_and_sentences(args: Namespace, use: str) -> tuple[TrainedRun, list[str]]:
    """The run, which can be used like that, and the sentences of the arguments, a file or stdin.

    Raises:
        ConfigError: there is no such run, it is of another kind, or sentences come from two places.
        DataError: there is no sentence, or it is not UTF-8.
    """
    run = TrainedRun(args.run)
    run.require(use)
    if args.text and args.input:
        raise ConfigError("give sentences or --input, not both.")
    if args.text:
        source = "the sentences given"
        # the shell passes bytes, which Python keeps even where they are not valid text
        content = os.fsencode("\n".join(" ".join(text.split("\n")) for text in args.text))
    elif args.input:
        source = str(args.input)
        if args.input.is_dir():
            raise DataError(f"{source}: is a folder. Name a file of sentences, one per line.")
        if not args.input.exists():
            raise DataError(f"{source}: there is no such file.")
        content = args.input.read_bytes()
    else:
        source = "stdin"
        if sys.stdin.isatty():
            print("One sentence per line; Ctrl-D ends the input.", file=sys.stderr)
        content = sys.stdin.buffer.read()
    try:
        sentences = content.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{source}: not UTF-8 at byte {error.start}.") from error
    if not any(sentence.strip() for sentence in sentences):
        raise DataError(f"{source}: there is no sentence.")
    return run, sentences


def _draw_attention(args: Namespace, run: TrainedRun, sentences: Sequence[str]) -> None:
    if args.attention:
        from aiayn.report.sections.attention_figures import draw_attention

        first = next(sentence for sentence in sentences if sentence.strip())
        maps = run.attention(first, beam=args.beam, alpha=args.alpha)
        write_atomically(args.attention, draw_attention(maps, args.kind))


def _print(lines: Iterable[str]) -> None:
    """Lines to standard output, whose reader may stop early, as head does."""
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would write what is left in the buffer, and fail again, as it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _add_input_options(command: ArgumentParser) -> None:
    command.add_argument("run", help="a run of params.yaml, like en-de.base")
    command.add_argument("text", nargs="*", help="one sentence each (default: lines of stdin)")
    command.add_argument("--input", type=Path, metavar="FILE", help="a file of sentences")


def _add_attention_option(command: ArgumentParser) -> None:
    command.add_argument(
        "--attention", type=Path, metavar="SVG", help="draw the attention over the first sentence"
    )


def _add_search_options(command: ArgumentParser) -> None:
    command.add_argument("--beam", type=int, help="hypotheses kept (default: the task's)")
    command.add_argument("--alpha", type=float, help="length penalty (default: the task's)")
    command.add_argument(
        "--kind", choices=KINDS, default="cross", help="which attention is drawn (default: cross)"
    )


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")


class _Parser(ArgumentParser):
    """Reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, printable(f"{self.prog}: {message}. See {self.prog} --help") + "\n")
