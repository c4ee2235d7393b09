"""The subcommands that use a trained run: translate, parse and classify sentences."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import aiayn
from aiayn import config
from aiayn.commands.console import print_lines, read_sentences
from aiayn.errors import DataError, printable
from aiayn.files import write_atomically

if TYPE_CHECKING:
    from aiayn.trained_run import TrainedRun

MAX_WARNINGS = 10  # lines about words
ATTENTION_KINDS = ("encoder", "decoder", "cross")  # results.illustrations.KINDS, which needs pandas


def translate(args: Namespace) -> None:
    """Translate lines of text with a trained run."""
    run, sentences, status = _opened(args, "translate")
    outputs = run.translate(sentences, beam=args.beam, alpha=args.alpha)
    _draw_attention(args, run, sentences)
    print_lines(outputs, status)


def parse(args: Namespace) -> None:
    """Parse sentences with a trained run.

    Prints a bracketed tree in the format of the Penn Treebank for each sentence. Words must be
    separated by spaces, as in data/text/TASK/*.source: commas, full stops and n't are words.
    Parentheses become -LRB- and -RRB-.
    """
    run, sentences, status = _opened(args, "parse")
    trees = run.parse(sentences, beam=args.beam, alpha=args.alpha)
    _draw_attention(args, run, sentences)
    if args.svg:
        from aiayn.report.parse_trees import draw_tree

        write_atomically(args.svg, draw_tree(next(tree for tree in trees if tree.words)))
    print_lines((str(tree) if tree.words else "" for tree in trees), status)


def classify(args: Namespace) -> None:
    """Classify sentences with a trained run.

    Prints each sentence's label and the probabilities of all labels, separated by tabs; an empty
    line for an empty sentence.
    """
    run, sentences, status = _opened(args, "classify")
    lines = []
    for likely in run.classify(sentences):
        label = max(likely, key=likely.__getitem__, default="")
        lines.append("\t".join([label, *(f"{name} {p:.4f}" for name, p in likely.items())]))
    _draw_attention(args, run, sentences)
    print_lines(lines, status)


def _opened(args: Namespace, use: str) -> tuple[TrainedRun, list[str], int]:
    """The run, its sentences, and the exit status: 1 if a sentence is too long. Such a sentence is
    reported and replaced by an empty line.

    Raises:
        ConfigError: there is no such run, its task is of another kind, or both sentences and a file
            are given.
        DataError: there is no sentence, all are too long, or one is not UTF-8.
    """
    if args.run != aiayn.SHIPPED:
        config.load().run(args.run)  # report a wrong name before importing torch
    run = aiayn.load(args.run)
    run.require(use)
    source, sentences = read_sentences(args.text, args.input)
    too_long = run.too_long(sentences)
    for n, problem in too_long.items():
        print(printable(f"{source}, line {n + 1} {problem}"), file=sys.stderr)
    sentences = ["" if n in too_long else sentence for n, sentence in enumerate(sentences)]
    unfamiliar = run.unfamiliar(sentences)
    for n, words in islice(unfamiliar.items(), MAX_WARNINGS):
        what = f"{source}, line {n + 1}: words that the model hardly knows: {', '.join(words)}"
        print(printable(what), file=sys.stderr)
    if (more := len(unfamiliar) - MAX_WARNINGS) > 0:
        print(f"{source}: {more} more lines with such words", file=sys.stderr)
    if not any(sentence.strip() for sentence in sentences):
        raise DataError(f"{source}: all sentences are empty or too long.")
    return run, sentences, int(bool(too_long))


def _draw_attention(args: Namespace, run: TrainedRun, sentences: Sequence[str]) -> None:
    if args.attention:
        first = next(sentence for sentence in sentences if sentence.strip())
        figure = run.attention_figure(first, args.kind, beam=args.beam, alpha=args.alpha)
        write_atomically(args.attention, figure.svg)
