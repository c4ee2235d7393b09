"""Treebank files into trees, by nltk's reader, prepared as parsers are trained and scored on.

Traces (-NONE-) go, then constituents left without a word; function tags and indices behind a label
(NP-SBJ-1, NP=2) go. Unary chains, words and parts of speech stay as the treebank has them.
Source: the usual preparation of the Penn Treebank (Collins 1999), behind every figure of table 4.
"""

# nltk carries no types
# mypy: allow-untyped-calls

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from aiayn.errors import DataError
from aiayn.trees.tree import TOP, Bracket, Tree

TRACE = "-NONE-"
TOPS = frozenset({"", TOP, "ROOT", "S1"})  # what treebanks and parsers call the outermost bracket
WORD = r"[^\s()]+"  # nltk's own pattern takes \) for a part of a word, which no treebank does
BRACKET = re.compile(r"[()]")
FUNCTION = re.compile(r"(?<=.)[-=].*")  # the first character stays: -LRB- is a label


def read_trees(lines: Iterable[str], place: str) -> Iterator[Tree]:
    """Every tree of a file; a tree may take many lines, and a line may hold many trees.

    A tree without a word, such as the (()) that parsers write for a failure, comes as a tree of no
    words, so that whoever reads can count it.

    Args:
        place: how messages name the file.
    Raises:
        DataError: the brackets do not balance, or words stand where a bracket must; with the line.
    """
    pending: list[str] = []
    depth = begun = 0
    for number, line in enumerate(lines, start=1):
        for part in _up_to_ends(line, depth):
            if not part.strip():
                continue
            if not pending:
                begun = number
            pending.append(part)
            depth += part.count("(") - part.count(")")
            if depth < 0:
                raise DataError(f"{place}, line {number}: a bracket is closed that was not opened.")
            if depth == 0:
                yield _parsed(" ".join(pending), f"{place}, line {begun}")
                pending = []
    if pending:
        raise DataError(
            f"{place}, line {begun}: {depth} brackets of this tree are never closed. Mend the file."
        )


def read_tree(text: str, place: str) -> Tree:
    """The one tree of a line. Raises DataError as `read_trees`, and if there is not just one."""
    trees = list(read_trees([text], place))
    if len(trees) != 1:
        raise DataError(f"{place}: {len(trees)} trees where one must be.")
    return trees[0]


def _up_to_ends(line: str, depth: int) -> Iterator[str]:
    """The line cut behind every bracket that ends a tree."""
    begin = 0
    for bracket in BRACKET.finditer(line):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            yield line[begin : bracket.end()]
            begin = bracket.end()
    yield line[begin:]


def _parsed(text: str, place: str) -> Tree:
    from nltk.tree import Tree as Nested  # takes a second, which only readers pay

    try:
        nested = Nested.fromstring(text, node_pattern=WORD, leaf_pattern=WORD)
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{place}: not a bracketed tree ({reason}). Mend the file.") from error
    return _prepared(nested, place)


def _prepared(nested: Any, place: str) -> Tree:
    words: list[str] = []
    tags: list[str] = []
    brackets: list[tuple[str, int, int]] = []
    waiting: list[Any] = [nested]
    while waiting:
        node = waiting.pop()
        if isinstance(node, int):  # all below the bracket of this number has been read
            brackets[node] = (*brackets[node][:2], len(words))
            continue
        if isinstance(node, str):
            raise DataError(f"{place}: the word {node!r} has no part of speech. Mend the file.")
        label, children = node.label(), list(node)
        if len(children) == 1 and isinstance(children[0], str):
            if label != TRACE:
                tags.append(label)
                words.append(children[0])
            continue
        if node is not nested or label not in TOPS:
            waiting.append(len(brackets))
            brackets.append((FUNCTION.sub("", label), len(words), len(words)))
        waiting += reversed(children)
    kept = (Bracket(*bracket) for bracket in brackets if bracket[1] < bracket[2])
    return Tree(tuple(words), tuple(tags), tuple(kept))
