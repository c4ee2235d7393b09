"""Treebank files: what is taken out, what stays, what is refused."""

from __future__ import annotations

import pytest

from aiayn.errors import DataError
from aiayn.trees.reading import read_tree, read_trees
from aiayn.trees.tree import Bracket

# in the Penn Treebank's manner: traces, indices, function tags, a gap, a bracket as a word
MARKED = """
( (S-1 (NP-SBJ=2 (-NONE- *T*-3) )
    (VP (VBD said) (SBAR (-NONE- 0) (S (NP-SBJ (NP (-LRB- -LRB-) (NNP U.S.) )) (VP (VBZ is) (ADVP|PRT-CLR (RB 1\\/2)))))) (. .)) )
"""


def test_traces_tags_and_empties_go_and_the_rest_stays() -> None:
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
def test_a_tree_without_words_is_told(text: str) -> None:
    assert read_tree(text, "file").words == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(S (X a))\n(S (NP (X b)\n(X c)", "file, line 2: 2 brackets of this tree are never closed"),
        ("(S (X a))\n)", "file, line 2: a bracket is closed that was not opened"),
        ("(S (X a) b)", "file, line 1: the word 'b' has no part of speech"),
        ("(S a b)", "file, line 1: the word 'a' has no part of speech"),
        ("stray (S (X a))", "file, line 1: not a bracketed tree"),
        ("(S (X a))\nstray", "file, line 2: not a bracketed tree"),
    ],
)  # fmt: skip
def test_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(DataError) as error:
        list(read_trees(text.split("\n"), "file"))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_one_line_one_tree() -> None:
    with pytest.raises(DataError, match="2 trees where one must be"):
        read_tree("(S (X a)) (S (X b))", "file")
