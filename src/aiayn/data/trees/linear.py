"""Linearizing trees as symbols for a sequence model, and restoring trees from its output.

    (S (NP (PRP) )NP (VP (VBZ) )VP (.) )S        leaves are parts of speech
    (S (NP (XX) )NP (VP (XX) )VP (XX) )S         leaves are a dummy symbol
    (S (NP She )NP (VP sleeps )VP . )S           leaves are words

In the first two forms the words are only in the input (Vinyals et al. 2015, "Grammar as a Foreign
Language"), and the model must count them; in the third it can copy them. A closing bracket repeats
its label, and TOP is left out. Symbols begin with a bracket, which no word of a treebank does: the
word ( is written -LRB-.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from aiayn.data.trees.tree import Bracket, Tree, walk

Leaves = Literal["tags", "dummy", "words"]

DUMMY = "XX"
LEAVES = ("leaf", "word")  # groups of SYMBOL
SYMBOL = re.compile(r"\((?P<leaf>[^()]+)\)|\((?P<open>[^()]+)|\)(?P<close>[^()]+)|(?P<word>[^()]+)")


class Restored(NamedTuple):
    """A tree, and whether the symbols had to be repaired."""

    tree: Tree
    repaired: bool


def tags_of(symbols: Iterable[str], count: int) -> list[str]:
    """The parts of speech in the symbols for `count` words; DUMMY where there is none."""
    matches = map(SYMBOL.fullmatch, symbols)
    leaves = [m["leaf"] or DUMMY for m in matches if m and m.lastgroup in LEAVES]
    return (leaves + [DUMMY] * count)[:count]


def linearize(tree: Tree, leaves: Leaves) -> str:
    """The symbols of a tree, separated by spaces."""
    written = {"tags": [f"({tag})" for tag in tree.tags], "words": tree.words}
    at_leaf = written.get(leaves, [f"({DUMMY})"] * len(tree.words))
    labels: list[str] = []
    symbols: list[str] = []
    for item in walk(tree):
        if isinstance(item, Bracket):
            labels.append(item.label)
            symbols.append(f"({item.label}")
        elif item is None:
            symbols.append(f"){labels.pop()}")
        else:
            symbols.append(at_leaf[item])
    return " ".join(symbols)


def restore(symbols: Sequence[str], words: Sequence[str], tags: Sequence[str]) -> Restored:
    """A tree over exactly these words and tags, from any symbols.

    Valid symbols, with as many leaves as words, give their tree. Others are repaired. Skipped are:
    anything that is neither symbol nor word, leaves beyond the last word, closing brackets without
    an opening one, and empty brackets. A closing bracket also closes all brackets inside its own.
    Brackets that are open at the end are closed after the last word. Words beyond the last leaf go
    into the brackets that are open there, or else into the outermost one that ends there.

    Leaves that are words are aligned with the sentence: if some are missing or superfluous, the
    others keep their brackets. A missing word goes into the brackets that are open both before and
    after it, and missing first words into the outermost bracket that begins after them.
    """
    leaves: list[str | None] = []  # None for a leaf that is not a word
    repaired = False
    opened: list[int] = []  # indices of open brackets, outermost first
    last_outermost: int | None = None
    labels: list[str] = []
    spans: list[tuple[int, int]] = []  # of leaves
    for symbol in symbols:
        match = SYMBOL.fullmatch(symbol)
        kind = match.lastgroup if match else None
        if match and kind in LEAVES:
            leaves.append(match["word"])
        elif match and kind == "open":
            if not opened:
                last_outermost = len(labels)
            opened.append(len(labels))
            labels.append(match["open"])
            spans.append((len(leaves), len(leaves)))
        elif match and kind == "close" and match["close"] in [labels[n] for n in opened]:
            while True:
                number = opened.pop()
                spans[number] = (spans[number][0], len(leaves))
                if labels[number] == match["close"]:
                    break
                repaired = True
        else:
            repaired = True
    positions, count = _positions(leaves, words), len(words)
    repaired = repaired or bool(opened) or positions != [*range(count)]
    starts, ends = _boundaries(positions)
    spans = [(starts[start], ends[end]) for start, end in spans]
    if not opened and last_outermost is not None and spans[last_outermost][1] == ends[-1]:
        opened = [last_outermost]
    for number in opened:
        spans[number] = (spans[number][0], count)
    if spans and spans[0][0] == starts[0]:
        spans[0] = (0, spans[0][1])
    brackets = tuple(
        Bracket(label, start, end)
        for label, (start, end) in zip(labels, spans, strict=True)
        if start < end
    )
    repaired = repaired or len(brackets) < len(labels)
    return Restored(Tree(tuple(words), tuple(tags), brackets), repaired)


def _positions(leaves: Sequence[str | None], words: Sequence[str]) -> list[int | None]:
    """The word index of each leaf, by position or by alignment; None for a superfluous leaf."""
    named = [leaf for leaf in leaves if leaf is not None]
    if len(named) < len(leaves):
        return [n if n < len(words) else None for n in range(len(leaves))]
    positions: list[int | None] = [None] * len(leaves)
    for _, leaf, leaf_end, word, word_end in SequenceMatcher(
        None, named, words, autojunk=False
    ).get_opcodes():
        # also pairs words that differ, as many as both sides have
        for offset in range(min(leaf_end - leaf, word_end - word)):
            positions[leaf + offset] = word + offset
    return positions


def _boundaries(positions: Sequence[int | None]) -> tuple[list[int], list[int]]:
    """For each gap between leaves: the start of a bracket that opens there, and the end (exclusive)
    of a bracket that closes there, as word indices."""
    ends = [0]
    for position in positions:
        ends.append(ends[-1] if position is None else position + 1)
    starts = [ends[-1]]
    for position in reversed(positions):
        starts.append(starts[-1] if position is None else position)
    return starts[::-1], ends
