"""Trees that a reader of the Penn Treebank can read, and sentences that are their leaves."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.data.corpora.languages import english
from aiayn.data.corpora.languages.derivation import Deriver
from aiayn.data.corpora.languages.syntax import Sentence

seeds = st.integers(min_value=0, max_value=2**32)
fewer_examples = settings(max_examples=30, deadline=None)


def draw(seed: int) -> list[Sentence]:
    deriver = Deriver(seed)
    return [deriver.sentence() for _ in range(40)]


LABELS = {
    *("S", "SBAR", "NP", "VP", "PP", "ADVP", "ADJP", "WHNP", "WHADVP"),
    *("DT", "PRP$", "PRP", "CD", "JJ", "NN", "NNS", "IN", "TO", "RB", "CC", "MD"),
    *("VB", "VBZ", "VBP", "VBD", "WP", "WDT", "WRB", ",", "."),
}


def leaves_of(tree: str) -> list[str]:
    """The words of a bracketing, which must be one tree with words only directly under tags."""
    depth = 0
    leaves = []
    pieces = re.findall(r"\(|\)|[^() ]+", tree)
    for before, piece, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
        depth += {"(": 1, ")": -1}.get(piece, 0)
        assert depth > 0 or not after, "the tree closes before its end"
        if piece in "()":
            continue
        if before == "(":
            assert piece in LABELS
        else:
            assert after == ")", "a word is its tag's only child"
            leaves.append(piece)
    assert depth == 0
    return leaves


@fewer_examples
@given(seeds)
def test_tree_leaves_are_the_sentence(seed: int) -> None:
    for sentence in draw(seed):
        tree = english.tree(sentence)
        text = english.text(tree)
        assert leaves_of(tree) == re.sub(r"([,.])", r" \1", text).split(" ")
        assert text[0].isupper()
        assert text.endswith(".")
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", text)
