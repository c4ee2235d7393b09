"""Trees as lines of symbols that a sequence model can write, and back from whatever it wrote.

    (S (NP (PRP) )NP (VP (VBZ) )VP (.) )S        words as their parts of speech
    (S (NP (XX) )NP (VP (XX) )VP (XX) )S         or all as one dummy
    (S (NP She )NP (VP sleeps )VP . )S           or as they are

In the first two the words stay in the input alone (Vinyals et al. 2015, "Grammar as a Foreign
Language"), and the model must count them; in the third they can be copied. A closing bracket
repeats its label, and the outer TOP is left out. Symbols begin with a bracket, which no word of a
treebank does: there the word ( is written -LRB-.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from aiayn.data.trees.tree import Bracket, Tree, walk

Leaves = Literal["tags", "dummy", "words"]

DUMMY = "XX"
LEAVES = ("leaf", "word")  # of the groups of SYMBOL
SYMBOL = re.compile(r"\((?P<leaf>[^()]+)\)|\((?P<open>[^()]+)|\)(?P<close>[^()]+)|(?P<word>[^()]+)")


class Restored(NamedTuple):
    """A tree, and whether it had to depart from the symbols that were given."""

    tree: Tree
    repaired: bool


def tags_of(symbols: Iterable[str], count: int) -> list[str]:
    """The parts of speech that symbols give for `count` words; DUMMY where they give none."""
    matches = map(SYMBOL.fullmatch, symbols)
    leaves = [m["leaf"] or DUMMY for m in matches if m and m.lastgroup in LEAVES]
    return (leaves + [DUMMY] * count)[:count]


def linearize(tree: Tree, leaves: Leaves) -> str:
    """The symbols of a tree, spaces between."""
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
    """A tree over exactly these words and tags, whatever the symbols are.

    Of symbols that make a tree over as many words, its leaves tags or these words, it is that tree.
    Else it is repaired: what is neither symbol nor word is skipped, and so are leaves beyond the
    last word, closing brackets that close nothing and brackets around nothing; a closing bracket
    closes everything opened since its own; what is left open at the end closes behind the last
    word; words beyond the last leaf go into the brackets that are open there, or else into the
    outermost one that ends there.

    Leaves that are words are aligned with the words of the sentence: if some are missing or too
    many, the others keep their brackets. A missing word goes into the brackets that are open both
    before and behind it, the first ones into the outermost bracket that begins behind them.
    """
    leaves: list[str | None] = []  # the word, of those that are words
    repaired = False
    opened: list[int] = []  # numbers of the brackets that are open, outermost first
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
    places, count = _places(leaves, words), len(words)
    repaired = repaired or bool(opened) or places != [*range(count)]
    starts, ends = _boundaries(places)
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


def _places(leaves: Sequence[str | None], words: Sequence[str]) -> list[int | None]:
    """Which word each leaf is: the next one, or the one that it names; None if it is none."""
    named = [leaf for leaf in leaves if leaf is not None]
    if len(named) < len(leaves):
        return [n if n < len(words) else None for n in range(len(leaves))]
    places: list[int | None] = [None] * len(leaves)
    for _, leaf, leaf_end, word, word_end in SequenceMatcher(
        None, named, words, autojunk=False
    ).get_opcodes():
        # of words that are others, as many as there are on either side
        for offset in range(min(leaf_end - leaf, word_end - word)):
            places[leaf + offset] = word + offset
    return places


def _boundaries(places: Sequence[int | None]) -> tuple[list[int], list[int]]:
    """For each gap between leaves: the word at which a bracket that opens there begins, and the one
    before which a bracket that closes there ends."""
    ends = [0]
    for place in places:
        ends.append(ends[-1] if place is None else place + 1)
    starts = [ends[-1]]
    for place in reversed(places):
        starts.append(starts[-1] if place is None else place)
    return starts[::-1], ends
