"""Reading treebanks: what is removed, kept and rejected; comparison with NLTK's reader."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiayn.data.trees.reading import read_tree, read_trees
from aiayn.data.trees.tree import Bracket
from aiayn.errors import DataError

TAGS = st.sampled_from(["NN", "-LRB-", "PRP$", ".", "-NONE-"])
WORDS = st.sampled_from(["a", "1\\/2", "*T*-1", "-LRB-", "``", "é", "S1"])
LABELS = st.sampled_from(["S", "NP-SBJ-1", "NP=2", "ADVP|PRT-CLR", "TOP"])
SPACE = st.sampled_from(["", " ", "\n  ", "\t"])


def bracketed(*inside: str) -> st.SearchStrategy[str]:
    """Parts of a tree between brackets, with any allowed white space."""
    return SPACE.map(lambda space: f"({space}{' '.join(inside)}{space})")


@st.composite
def constituents(draw: st.DrawFn, depth: int = 4) -> str:
    parts = [draw(LABELS)]
    for _ in range(draw(st.integers(0 if depth < 4 else 1, 3))):
        if depth and draw(st.booleans()):
            parts.append(draw(constituents(depth - 1)))
        else:
            parts.append(draw(bracketed(draw(TAGS), draw(WORDS))))
    return draw(bracketed(*parts))


def by_nltk(text: str) -> tuple[list[str], list[str], list[Bracket]]:
    """Words, tags and brackets, from NLTK's tree."""
    from nltk.tree import Tree as Nested  # takes seconds to import

    # by default, it takes \\) as part of a word, which no treebank does
    nested = Nested.fromstring(text, node_pattern=r"[^\s()]+", leaf_pattern=r"[^\s()]+")
    leaves = [(word, tag) for word, tag in nested.pos()]
    kept = [number for number, (_, tag) in enumerate(leaves) if tag != "-NONE-"]
    new_position = {number: new for new, number in enumerate(kept)}
    for number, position in enumerate(nested.treepositions("leaves")):
        nested[position] = number
    brackets = []
    for constituent in nested.subtrees(
        lambda tree: not (len(tree) == 1 and isinstance(tree[0], int))
    ):
        covered = [
            new_position[number] for number in constituent.leaves() if number in new_position
        ]
        is_outermost = constituent is nested and constituent.label() in ("", "TOP", "ROOT", "S1")
        if covered and not is_outermost:
            label = re.split("[-=]", constituent.label())[0]
            brackets.append(Bracket(label, covered[0], covered[-1] + 1))
    return [leaves[n][0] for n in kept], [leaves[n][1] for n in kept], brackets


@given(constituents())
def test_any_tree_is_read_as_by_nltk(text: str) -> None:
    for variant in (text, f"( {text} )"):
        (tree,) = read_trees(variant.split("\n"), "file")
        words, tags, brackets = by_nltk(variant)
        assert [*tree.words] == words
        assert [*tree.tags] == tags
        assert [*tree.brackets] == brackets


def test_a_treebank_is_read_as_by_nltk(treebank_sample: dict[str, str]) -> None:
    text = "\n".join(list(treebank_sample.values())[::8])
    trees = list(read_trees(text.splitlines(), "sample"))
    assert len(trees) > 400
    for tree, written in zip(trees, re.split(r"\n(?=\()", text.strip()), strict=True):
        words, tags, brackets = by_nltk(written)
        assert ([*tree.words], [*tree.tags], [*tree.brackets]) == (words, tags, brackets)


# in the style of the Penn Treebank: traces, indices, function tags, a gap, a bracket as a word
MARKED = """
( (S-1 (NP-SBJ=2 (-NONE- *T*-3) )
    (VP (VBD said) (SBAR (-NONE- 0) (S (NP-SBJ (NP (-LRB- -LRB-) (NNP U.S.) )) (VP (VBZ is) (ADVP|PRT-CLR (RB 1\\/2)))))) (. .)) )
"""


def test_traces_function_tags_and_empty_constituents_are_removed() -> None:
    (tree,) = read_trees(MARKED.splitlines(), "file")
    assert str(tree) == (
        "(TOP (S (VP (VBD said) (SBAR (S (NP (NP (-LRB- -LRB-) (NNP U.S.))) "
        "(VP (VBZ is) (ADVP|PRT (RB 1\\/2)))))) (. .)))"
    )
    assert tree.brackets[4:6] == (Bracket("NP", 1, 3), Bracket("NP", 1, 3))  # a unary chain


def test_trees_may_share_lines_and_span_them() -> None:
    lines = ["(S (X a)) (S (X b)) (S", " (X", " c))", "", "(ROOT (S (X d)))"]
    assert [tree.words for tree in read_trees(lines, "file")] == [("a",), ("b",), ("c",), ("d",)]


@pytest.mark.parametrize("text", ["(())", "( (S (NP (-NONE- *))))", "(TOP )", "( )"])
def test_a_tree_without_words_is_returned(text: str) -> None:
    assert read_tree(text, "file").words == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(S (X a))\n(S (NP (X b)\n(X c)", "file, line 2: 2 brackets of this tree are never closed"),
        ("(S (X a))\n)", "file, line 2: a bracket is closed that was not opened"),
        ("(S (X a) b)", "file, line 1: the word 'b' has no part of speech"),
        ("(S a b)", "file, line 1: the word 'a' has no part of speech"),
        ("stray (S (X a))", "file, line 1: not a bracketed tree"),
        ("(S (X a))\nstray", "file, line 2: not a bracketed tree"),
    ],
)  # fmt: skip
def test_an_invalid_tree_is_a_one_line_error(text: str, expected: str) -> None:
    with pytest.raises(DataError) as error:
        list(read_trees(text.split("\n"), "file"))
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_one_tree_per_line() -> None:
    with pytest.raises(DataError, match="2 trees, instead of one"):
        read_tree("(S (X a)) (S (X b))", "file")
