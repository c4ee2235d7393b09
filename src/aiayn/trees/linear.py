"""Trees as lines of symbols that a sequence model can write, and back from whatever it wrote.

    (S (NP (PRP) )NP (VP (VBZ) )VP (.) )S        words as their parts of speech
    (S (NP (XX) )NP (VP (XX) )VP (XX) )S         or all as one dummy
    (S (NP She )NP (VP sleeps )VP . )S           or as they are

In the first two the words stay in the input alone (Vinyals et al. 2015, "Grammar as a Foreign
Language"), and who writes must count them; in the third they can be copied. A closing bracket
repeats its label, and the outer TOP is left out. Symbols begin with a bracket, which no word of a
treebank does: there the word ( is written -LRB-.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from aiayn.trees.tree import Bracket, Tree, walk

Leaves = Literal["tags", "dummy", "words"]

DUMMY = "XX"
LEAVES = ("leaf", "word")  # of the groups of SYMBOL
SYMBOL = re.compile(r"\((?P<leaf>[^()]+)\)|\((?P<open>[^()]+)|\)(?P<close>[^()]+)|(?P<word>[^()]+)")


class Restored(NamedTuple):
    """A tree, and whether it had to depart from the symbols that were given."""

    tree: Tree
    repaired: bool


def tags_of(symbols: Iterable[str], count: int) -> list[str]:
    """The parts of speech that symbols tell of so many words; DUMMY where they tell none."""
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

    Of symbols that make a tree over as many words it is that tree: which words they are is not
    looked at. Else it is repaired: what is neither symbol nor word is skipped, and so are leaves
    beyond the last word, closing brackets that close nothing and brackets around nothing; a closing
    bracket closes everything opened since its own; what is left open at the end closes behind the
    last word; words beyond the last leaf go into the brackets that are open there, or else into the
    last outermost one.
    """
    count = len(words)
    position, repaired = 0, False
    opened: list[int] = []  # numbers of the brackets that are open, outermost first
    last_outermost: int | None = None
    labels: list[str] = []
    spans: list[tuple[int, int]] = []
    for symbol in symbols:
        match = SYMBOL.fullmatch(symbol)
        kind = match.lastgroup if match else None
        if kind in LEAVES and position < count:
            position += 1
        elif match and kind == "open":
            if not opened:
                last_outermost = len(labels)
            opened.append(len(labels))
            labels.append(match["open"])
            spans.append((position, position))
        elif match and kind == "close" and match["close"] in [labels[n] for n in opened]:
            while True:
                number = opened.pop()
                spans[number] = (spans[number][0], position)
                if labels[number] == match["close"]:
                    break
                repaired = True
        else:
            repaired = True
    repaired = repaired or bool(opened) or position < count
    if position < count and not opened and last_outermost is not None:
        opened = [last_outermost]
    for number in opened:
        spans[number] = (spans[number][0], count)
    brackets = tuple(
        Bracket(label, start, end)
        for label, (start, end) in zip(labels, spans, strict=True)
        if start < end
    )
    repaired = repaired or len(brackets) < len(labels)
    return Restored(Tree(tuple(words), tuple(tags), brackets), repaired)
