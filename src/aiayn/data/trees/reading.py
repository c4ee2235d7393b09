"""Reading treebank files as trees, with the preprocessing that is usual for parsers.

Traces (-NONE-) are removed, then constituents without words, and function tags and indices of
labels (NP-SBJ-1, NP=2). Unary chains, words and parts of speech are unchanged.
Source: the usual preprocessing of the Penn Treebank (Collins 1999), as for all scores in table 4.

NLTK gives the same trees (tests/data/trees/test_reading.py), but imports scipy and scikit-learn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from aiayn.data.trees.tree import TOP, Bracket, Tree
from aiayn.errors import DataError

TRACE = "-NONE-"
TOPS = frozenset({"", TOP, "ROOT", "S1"})  # labels of the outermost bracket
TOKEN = re.compile(r"[()]|[^\s()]+")
FUNCTION = re.compile(r"(?<=.)[-=].*")  # keeps the first character: -LRB- is a label


def read_trees(lines: Iterable[str], place: str) -> Iterator[Tree]:
    """Every tree of a file; a tree may span several lines, and a line may have several trees.

    A tree without words, such as the (()) that parsers write for a failure, is included, so that
    the caller can count it.

    Args:
        place: the file's name in messages.
    Raises:
        DataError: unbalanced brackets, or a word instead of a bracket; the message has the line.
    """
    tokens: list[str] = []
    depth = begun = 0
    for number, line in enumerate(lines, start=1):
        for token in TOKEN.findall(line):
            if not tokens:
                begun = number
            tokens.append(token)
            depth += (token == "(") - (token == ")")
            if depth < 0:
                raise DataError(f"{place}, line {number}: a bracket is closed that was not opened.")
            if depth == 0:
                yield _prepared(tokens, f"{place}, line {begun}")
                tokens = []
    if tokens:
        raise DataError(
            f"{place}, line {begun}: {depth} brackets of this tree are never closed. "
            "Correct the file."
        )


def read_tree(text: str, place: str) -> Tree:
    """The tree on a line. Raises DataError as `read_trees`, and if there is not exactly one."""
    trees = list(read_trees([text], place))
    if len(trees) != 1:
        raise DataError(f"{place}: {len(trees)} trees, instead of one.")
    return trees[0]


def _prepared(tokens: Sequence[str], place: str) -> Tree:
    """The tree of balanced tokens. Raises DataError for a token outside of brackets."""
    if tokens[0] != "(":
        raise DataError(f"{place}: not a bracketed tree but {tokens[0]!r}. Correct the file.")
    words: list[str] = []
    tags: list[str] = []
    brackets: list[tuple[str, int, int]] = []
    not_closed: list[int | None] = []  # indices in `brackets`; None for the top bracket
    at = 0
    while at < len(tokens):
        if tokens[at] == ")":
            closed = not_closed.pop()
            if closed is not None:
                brackets[closed] = (*brackets[closed][:2], len(words))
            at += 1
            continue
        if tokens[at] != "(":
            raise DataError(
                f"{place}: the word {tokens[at]!r} has no part of speech. Correct the file."
            )
        label = "" if tokens[at + 1] in "()" else tokens[at + 1]
        inside = at + 2 if label else at + 1
        if label and tokens[inside] not in "()" and tokens[inside + 1] == ")":
            if label != TRACE:
                tags.append(label)
                words.append(tokens[inside])
            at = inside + 2
            continue
        if at == 0 and label in TOPS:
            not_closed.append(None)
        else:
            not_closed.append(len(brackets))
            brackets.append((FUNCTION.sub("", label), len(words), len(words)))
        at = inside
    kept = (Bracket(*bracket) for bracket in brackets if bracket[1] < bracket[2])
    return Tree(tuple(words), tuple(tags), tuple(kept))
