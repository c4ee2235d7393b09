"""What can be said after `aiayn`: its commands, with their arguments, options and help."""

from __future__ import annotations

import argparse
import importlib.metadata
from pathlib import Path
from typing import NoReturn

from aiayn.errors import printable
from aiayn.results import places
from aiayn.results.illustrations import KINDS


def parser() -> argparse.ArgumentParser:
    """Of the whole command line; it says in one line what is wrong with one, and exits with 2."""
    whole = _Parser(prog="aiayn", description="Use the trained runs of a project.")
    version = f"aiayn {importlib.metadata.version('aiayn')}"
    whole.add_argument("--version", action="version", version=version)
    commands = whole.add_subparsers(dest="command", required=True)
    shared = _decoding_options()
    commands.add_parser(
        "translate", parents=[shared], help="translate lines of text with a trained run"
    )
    parse = commands.add_parser(
        "parse",
        parents=[shared],
        help="parse sentences with a trained run",
        description="Writes a tree in brackets for each sentence, as the Penn Treebank does. Words "
        f"are what spaces part, as in {places.lines(places.text('TASK'), '*', 'source')}: a comma, "
        "a full stop and the n't of a verb stand by themselves. Brackets become -LRB- and -RRB-.",
    )
    parse.add_argument("--svg", type=Path, metavar="FILE", help="draw the first sentence's tree")
    classify = commands.add_parser(
        "classify",
        parents=[_input_options()],
        help="label sentences with a trained run",
        description="Writes for each sentence its label and how likely each label is, a tab "
        "between any two; nothing for an empty sentence.",
    )
    classify.add_argument(
        "--attention", type=Path, metavar="SVG", help="draw the attention over the first sentence"
    )
    repro = commands.add_parser(
        "repro",
        help="run the graph, several stages side by side",
        description="What `dvc repro` does, and the same bytes, with several stages at a time.",
    )
    repro.add_argument("stages", nargs="*", help="stages, with what they need; without any, all")
    repro.add_argument(
        "--jobs", type=_positive, help="stages side by side (default: as many as the cores carry)"
    )
    verify = commands.add_parser(
        "verify",
        help="hold the results here against a published reproduction",
        description="Each published figure beside the one here: the same, inside or outside of the "
        "published interval; and what differs of all that decides a run's bytes. Exit status 0: "
        "nothing is outside, missing or damaged; 1: something is; 2: nothing can be compared.",
    )
    verify.add_argument(
        "reproduction", type=Path, help=f"a folder, like {places.REPRODUCTIONS}/multi30k"
    )
    verify.add_argument("--json", type=Path, metavar="FILE", help="write all of it as JSON")
    verify.add_argument("--page", type=Path, metavar="FILE", help="write all of it as a page")
    export = commands.add_parser(
        "export",
        help="write a trained run in the format of another engine",
        description=f"Writes {places.EXPORTS}/RUN.ENGINE with a model card, and translates the "
        "test set by the engine to see what its search costs. Each engine is an extra of this "
        "package.",
    )
    export.add_argument("run", help="a run of params.yaml, like en-de.base")
    export.add_argument("--to", required=True, choices=("ctranslate2", "transformers"))
    commands.add_parser("sync", help="bring finished runs into the MLflow store")
    return whole


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")


def _input_options() -> _Parser:
    shared = _Parser(add_help=False)
    shared.add_argument("run", help="a run of params.yaml, like en-de.base")
    shared.add_argument("text", nargs="*", help="a sentence each; without any, lines of stdin")
    shared.add_argument("--input", type=Path, metavar="FILE", help="a file of sentences")
    return shared


def _decoding_options() -> _Parser:
    shared = _input_options()
    shared.add_argument("--beam", type=int, help="hypotheses kept (default: the task's)")
    shared.add_argument("--alpha", type=float, help="length penalty (default: the task's)")
    shared.add_argument(
        "--attention", type=Path, metavar="SVG", help="draw the attention over the first sentence"
    )
    shared.add_argument(
        "--kind", choices=KINDS, default="cross", help="which attention is drawn (default: cross)"
    )
    return shared


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the command line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, printable(f"{self.prog}: {message}. What there is: {self.prog} --help") + "\n")
