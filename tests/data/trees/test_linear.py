"""Trees to symbols and back: exactly if the symbols are a tree, repaired to a valid one if not."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aiayn.data.trees.linear import linearize, restore, tags_of
from aiayn.data.trees.reading import read_tree
from aiayn.data.trees.tree import Bracket, Tree

LABELS = st.sampled_from(["S", "NP", "VP", "NN", "X", "-LRB-", "ADVP|PRT", "="])
WORDS = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="()"), min_size=1)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any tree: over some words, brackets drawn inside brackets, unary chains included."""
    words = draw(st.lists(WORDS, min_size=1, max_size=12))
    tags = draw(st.lists(LABELS, min_size=len(words), max_size=len(words)))
    brackets: list[Bracket] = []

    def fill(start: int, end: int, depth: int) -> None:
        if depth == 5:
            return
        cuts = sorted(draw(st.sets(st.integers(start, end), max_size=4)))
        for left, right in pairwise(cuts):
            if draw(st.booleans()):
                brackets.append(Bracket(draw(LABELS), left, right))
                fill(left, right, depth + 1)

    fill(0, len(words), 0)
    return Tree(tuple(words), tuple(tags), tuple(brackets))


def assert_valid(tree: Tree, words: list[str]) -> None:
    assert tree.words == tuple(words)
    assert len(tree.tags) == len(words)
    open_ends = [len(words)]
    last_start = 0
    for bracket in tree.brackets:  # preorder, nested, not empty
        assert last_start <= bracket.start < bracket.end
        last_start = bracket.start
        while open_ends[-1] <= bracket.start:
            open_ends.pop()
        assert bracket.end <= open_ends[-1]
        open_ends.append(bracket.end)


@given(trees(), st.sampled_from(["tags", "dummy", "words"]))
def test_any_tree_survives_the_round_trip(tree: Tree, leaves: str) -> None:
    symbols = linearize(tree, leaves).split(" ")  # type: ignore[arg-type]
    assert restore(symbols, tree.words, tree.tags) == (tree, False)


@given(trees())
def test_any_tree_is_read_back_from_its_line(tree: Tree) -> None:
    plain = Tree(tree.words, tree.tags, tuple(b._replace(label="NP") for b in tree.brackets))
    assert read_tree(str(plain), "here") == plain


SYMBOLS = st.one_of(
    st.sampled_from(["(S", ")S", "(NP", ")NP", "(XX)", "(NN)", "(", ")", "()", "", "word", "(S)x"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" "), max_size=4),
)


@given(st.lists(SYMBOLS, max_size=40), st.lists(WORDS.map("given {}".format), max_size=8))
@example([")"], ["0"])  # ends like a leaf, but is none
def test_any_symbols_give_a_valid_tree_over_the_words(symbols: list[str], words: list[str]) -> None:
    tags = ["NN"] * len(words)
    tree, repaired = restore(symbols, words, tags)
    assert_valid(tree, words)
    leaves = [re.fullmatch(r"\([^()]+\)|[^()]+", symbol) for symbol in symbols]
    expected = ["(XX)" if leaf else symbol for leaf, symbol in zip(leaves, symbols, strict=True)]
    line = linearize(tree, "dummy")
    assert repaired == ((line.split(" ") if line else []) != expected)


@given(trees(), st.data())
def test_a_deleted_or_inserted_leaf_moves_no_other(tree: Tree, data: st.DataObject) -> None:
    """Where leaves are words, all of them different."""
    count = len(tree.words)
    tree = Tree(tuple(f"w{n}" for n in range(count)), tree.tags, tree.brackets)
    symbols = linearize(tree, "words").split(" ")
    deleted = data.draw(st.integers(0, count - 1))

    def spans_of_the_others(brackets: tuple[Bracket, ...]) -> list[tuple[str, set[int]]]:
        spans = [(b.label, {*range(b.start, b.end)} - {deleted}) for b in brackets]
        return [(label, others) for label, others in spans if others]

    remaining = [symbol for symbol in symbols if symbol != f"w{deleted}"]
    restored, repaired = restore(remaining, tree.words, tree.tags)
    assert_valid(restored, [*tree.words])
    assert repaired
    assert spans_of_the_others(restored.brackets) == spans_of_the_others(tree.brackets)
    inserted = data.draw(st.integers(0, len(symbols)))
    symbols.insert(inserted, "word")
    assert restore(symbols, tree.words, tree.tags) == (tree, True)


def test_a_different_word_is_aligned_by_position() -> None:
    symbols = [
        "(S",
        "(NP",
        "Anti-Ro",
        ")NP",
        "(VP",
        "was",
        "(ADVP",
        "not",
        ")ADVP",
        "found",
        ")VP",
        ")S",
    ]
    tree, repaired = restore(symbols, ["Anti-La", "is", "now", "found"], ["X"] * 4)
    assert not repaired
    assert [(b.start, b.end) for b in tree.brackets] == [(0, 4), (0, 1), (1, 4), (2, 3)]


@pytest.mark.parametrize(
    ("symbols", "brackets"),
    [
        ("(S (NP (XX) )NP (VP (XX) (XX)", [("S", 0, 3), ("NP", 0, 1), ("VP", 1, 3)]),  # cut short
        ("(S (NP (XX) )S (XX) (XX)", [("S", 0, 1), ("NP", 0, 1)]),  # NP never closed
        ("(S (XX) (XX) (XX) (XX) )S", [("S", 0, 3)]),  # a leaf too many
        ("(NP (XX) )NP (VP (XX) )VP", [("NP", 0, 1), ("VP", 1, 3)]),  # a leaf too few
        ("(S (NP )NP (XX) (XX) (XX) )S )VP", [("S", 0, 3)]),  # around nothing; closes nothing
        ("(S I cannot )S parse this", [("S", 0, 2)]),  # words too many, as leaves
        ("(S (NP a )NP (VP c )VP )S", [("S", 0, 3), ("NP", 0, 1), ("VP", 2, 3)]),  # a word missing
        ("(S (NP b )NP (VP c )VP )S", [("S", 0, 3), ("NP", 1, 2), ("VP", 2, 3)]),  # the first one
        ("() ( ) x) (S)x", []),
        ("", []),
    ],
)
def test_repairs(symbols: str, brackets: list[tuple[str, int, int]]) -> None:
    tree, repaired = restore(symbols.split(), ["a", "b", "c"], ["X"] * 3)
    assert (list(tree.brackets), repaired) == (brackets, True)


def test_symbols() -> None:
    tree = read_tree("(TOP (S (NP (PRP She)) (VP (VBZ sleeps)) (. .)))", "here")
    assert linearize(tree, "tags") == "(S (NP (PRP) )NP (VP (VBZ) )VP (.) )S"
    assert linearize(tree, "dummy") == "(S (NP (XX) )NP (VP (XX) )VP (XX) )S"
    assert linearize(tree, "words") == "(S (NP She )NP (VP sleeps )VP . )S"


def test_parts_of_speech_from_symbols() -> None:
    assert tags_of(["(S", "(NP", "(PRP)", ")NP", "(VP", "(VBZ)", ")VP", ")S"], 3) == [
        "PRP",
        "VBZ",
        "XX",
    ]
    assert tags_of(["(S", "(NP", "She", ")NP", "(VP", "(VBZ)", ")VP", ".", ")S"], 2) == [
        "XX",
        "VBZ",
    ]


def test_length_and_depth_have_no_limit() -> None:
    """A sentence of 500 words, and an output that opens brackets up to its length limit."""
    words = [f"w{n}" for n in range(500)]
    symbols = ["(S"] * 3000 + ["(XX)"] * 500
    tree, repaired = restore(symbols, words, ["NN"] * 500)
    assert repaired
    assert set(tree.brackets) == {("S", 0, 500)}
    assert restore(linearize(tree, "tags").split(), words, ["NN"] * 500) == (tree, False)
    assert len(str(tree).split()) == 3000 + 1 + 2 * 500
