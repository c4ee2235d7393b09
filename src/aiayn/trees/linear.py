"""Trees as lines of symbols that a sequence model can write, and back from whatever it wrote.

    (S (NP (PRP) )NP (VP (VBZ) )VP (.) )S        words as their parts of speech
    (S (NP (XX) )NP (VP (XX) )VP (XX) )S         or all as one dummy

The words themselves stay in the input (Vinyals et al. 2015, "Grammar as a Foreign Language"); a
closing bracket repeats its label, and the outer TOP is left out. Symbols begin with a bracket,
which no word of a treebank does: there the word ( is written -LRB-.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from aiayn.trees.tree import Bracket, Tree, walk

Leaves = Literal["tags", "dummy"]

DUMMY = "XX"
SYMBOL = re.compile(r"\((?P<leaf>[^()]+)\)|\((?P<open>[^()]+)|\)(?P<close>[^()]+)")


class Restored(NamedTuple):
    """A tree, and whether it had to depart from the symbols that were given."""

    tree: Tree
    repaired: bool


def linearize(tree: Tree, leaves: Leaves) -> str:
    """The symbols of a tree, spaces between."""
    labels: list[str] = []
    symbols: list[str] = []
    for item in walk(tree):
        if isinstance(item, Bracket):
            labels.append(item.label)
            symbols.append(f"({item.label}")
        elif item is None:
            symbols.append(f"){labels.pop()}")
        else:
            symbols.append(f"({tree.tags[item] if leaves == 'tags' else DUMMY})")
    return " ".join(symbols)


def restore(symbols: Sequence[str], words: Sequence[str], tags: Sequence[str]) -> Restored:
    """A tree over exactly these words and tags, whatever the symbols are.

    Of symbols that make a tree over as many words it is that tree. Else it is repaired: what is no
    symbol is skipped, and so are leaves beyond the last word, closing brackets that close nothing
    and brackets around nothing; a closing bracket closes everything opened since its own; what is
    left open at the end closes behind the last word; words beyond the last leaf go into the
    brackets that are open there, or else into the last outermost one.
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
        if kind == "leaf" and position < count:
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
