"""Brackets counted as by EVALB: by hand, and compared with PYEVALB and with EVALB itself."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PYEVALB import parser as pyevalb_parser
from PYEVALB.scorer import Scorer

from aiayn.data.trees.linear import linearize, restore
from aiayn.data.trees.reading import read_tree, read_trees
from aiayn.data.trees.tree import Bracket, Tree
from aiayn.errors import ScoreError
from aiayn.evaluation.bracket_metrics import (
    BRACKET_METRICS,
    PUNCTUATION,
    Counts,
    count,
    f1_by_length,
    read_parses,
)
from aiayn.evaluation.metric import score_by_name
from aiayn.results.scores import LengthClass

LABELS = ("NP", "VP", "S", "ADVP", "PRT", "PP", "TOP", "SBAR")


def _perturbed(tree: Tree, chance: random.Random) -> Tree:
    """The tree after up to seven symbols are deleted, inserted or swapped, and the rest is repaired."""
    symbols = linearize(tree, "dummy").split()
    for _ in range(chance.randrange(8)):
        position = chance.randrange(len(symbols))
        change = chance.randrange(4)
        if change == 0 and len(symbols) > 1:
            del symbols[position]
        elif change == 1:
            symbols.insert(position, chance.choice("()") + chance.choice(LABELS))
        elif change == 2:
            second_position = chance.randrange(len(symbols))
            symbols[position], symbols[second_position] = (
                symbols[second_position],
                symbols[position],
            )
        else:
            symbols[position:position] = [f"({chance.choice(LABELS)}"]
            symbols.insert(min(len(symbols), position + 3), f"){chance.choice(LABELS)}")
    return restore(symbols, tree.words, tree.tags).tree


@pytest.fixture(scope="module")
def pairs(treebank_sample: dict[str, str]) -> list[tuple[Tree, Tree]]:
    """Real trees of the Penn Treebank's sample, each with a perturbed copy."""
    chance = random.Random(23)
    found = []
    for name, text in list(treebank_sample.items())[:100]:
        # within the fixed sizes of EVALB's arrays
        found += [
            tree
            for tree in read_trees(text.splitlines(), name)
            if len(tree.words) + len(tree.brackets) < 150
        ]
    return [(tree, _perturbed(tree, chance)) for tree in found]


@pytest.mark.parametrize(
    ("gold", "predicted", "counts"),
    [
        # identical; TOP and the period do not count
        ("(TOP (S (NP (X a)) (VP (X b)) (. .)))", "(S (NP (X a)) (VP (X b)) (. .))", (3, 3, 3)),
        # the comma is removed before spans are compared
        ("(S (NP (X a)) (, ,) (VP (X b)))", "(S (NP (X a) (, ,)) (VP (X b)))", (3, 3, 3)),
        # a bracket around punctuation alone does not count
        ("(S (X a) (PRN (: -)))", "(S (X a) (: -))", (1, 1, 1)),
        ("(S (PRT (X a)) (X b))", "(S (ADVP (X a)) (X b))", (2, 2, 2)),
        ("(S (NP (X a)) (X b))", "(S (VP (X a)) (X b))", (1, 2, 2)),
        # two equal brackets need two matches
        ("(NP (NP (X a)))", "(NP (X a))", (1, 2, 1)),
        ("(NP (X a))", "(NP (NP (NP (X a))))", (1, 1, 3)),
        ("(S (X a) (X b))", "(TOP (X a) (X b))", (0, 1, 0)),
    ],
)  # fmt: skip
def test_by_hand(gold: str, predicted: str, counts: tuple[int, int, int]) -> None:
    found = count(read_tree(gold, "gold"), read_tree(predicted, "predicted"))
    assert (found.matched, found.gold, found.predicted) == counts


def _without_punctuation(tree: Tree) -> Tree:
    """The tree as PYEVALB needs it: it has no parameters, so COLLINS.prm is applied here."""
    kept = [n for n, tag in enumerate(tree.tags) if tag not in PUNCTUATION]
    spans = [
        (b.label, sum(n < b.start for n in kept), sum(n < b.end for n in kept))
        for b in tree.brackets
    ]
    brackets = [
        Bracket("ADVP" if label == "PRT" else label, start, end)
        for label, start, end in spans
        if start < end and label != "TOP"
    ]
    return Tree(
        tuple(tree.words[n] for n in kept), tuple(tree.tags[n] for n in kept), tuple(brackets)
    )


@pytest.mark.slow
def test_equal_to_pyevalb(pairs: list[tuple[Tree, Tree]]) -> None:
    """PYEVALB 0.1.3 counts the outermost bracket, which always matches, and compares sets, so
    pairs with the same bracket twice over the same words are compared with EVALB alone."""
    scorer, compared, differing = Scorer(), 0, 0
    for gold, predicted in pairs:
        plain = [_without_punctuation(tree) for tree in (gold, predicted)]
        if not plain[0].words or any(len(set(t.brackets)) < len(t.brackets) for t in plain):
            continue
        theirs: Any = scorer.score_trees(
            *(pyevalb_parser.create_from_bracket_string(str(tree)) for tree in plain)
        )
        ours = count(gold, predicted)
        assert (ours.matched + 1, ours.gold + 1, ours.predicted + 1) == (
            theirs.matched_brackets, theirs.gold_brackets, theirs.test_brackets,
        )  # fmt: skip
        compared += 1
        differing += not ours.exact
    assert compared >= 500
    assert differing > compared / 3


def test_equal_to_evalb(pairs: list[tuple[Tree, Tree]], tmp_path: Path) -> None:
    folder = os.environ.get("EVALB")
    if not folder:
        pytest.skip(
            "set EVALB to a folder with evalb and COLLINS.prm; "
            "their source is in the wheel of allennlp 1.0.0, tools/EVALB"
        )
    for name, trees in zip(("gold", "predicted"), zip(*pairs, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{tree}\n" for tree in trees))
    printed = subprocess.run(
        [Path(folder, "evalb"), "-p", Path(folder, "COLLINS.prm"), "gold", "predicted"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    rows = [line.split() for line in printed.splitlines()]
    rows = [row for row in rows if len(row) == 12 and row[0].isdigit()]
    assert len(rows) == len(pairs) >= 500
    for row, (gold, predicted) in zip(rows, pairs, strict=True):
        theirs = Counts(*map(int, (row[5], row[6], row[7], row[1])))
        assert count(gold, predicted) == theirs
    of_all = printed.partition("-- All --")[2].partition("-- len")[0]
    summary = dict(re.findall(r"^(.+\S) += +([0-9.]+)$", of_all, re.MULTILINE))
    outputs = [linearize(predicted, "dummy") for _, predicted in pairs]
    scores = score_by_name(BRACKET_METRICS, read_parses(outputs, [gold for gold, _ in pairs]))
    for name, theirs_name in {
        "bracket_f1": "Bracketing FMeasure",
        "bracket_precision": "Bracketing Precision",
        "bracket_recall": "Bracketing Recall",
        "exact_match": "Complete match",
    }.items():
        assert f"{scores[name].value:.2f}" == summary[theirs_name]


def test_scores_of_a_set() -> None:
    """Two of three brackets found, of two predicted in one sentence and none in the other."""
    gold = [read_tree(t, "gold") for t in ("(S (NP (X a)) (VP (X b)))", "(())", "(S (X a))")]
    parses = read_parses(["(S (NP (X) )NP (X) )S", "(S )S", "(S (X) )S"], gold)
    assert (len(parses.counts), parses.repaired, parses.skipped) == (2, 0, 1)
    scores = score_by_name(BRACKET_METRICS, parses)
    values = {name: round(score.value, 2) for name, score in scores.items()}
    assert values == {
        "bracket_f1": 85.71,  # 2 * 3 / (3 + 4)
        "bracket_precision": 100,
        "bracket_recall": 75,
        "exact_match": 50,
        "bracket_f1_40": 85.71,
        "bracket_f1_wrapped": 90.91,  # 2 * (3 + 2) / (3 + 2 + 4 + 2)
    }
    ((name, short),) = f1_by_length(parses)
    assert (name, short.rounded()) == ("1-10", LengthClass(sentences=2, f1=85.71))
    assert "profile:COLLINS.prm" in scores["bracket_f1"].signature


def test_a_sentence_of_punctuation_alone_is_skipped() -> None:
    """As by EVALB, which finds no word in it: it counts as neither right nor wrong."""
    gold = [read_tree(tree, "gold") for tree in ("(S (NP (X a)))", "(S (: -) (. .))")]
    parses = read_parses(["(S (X) )S", "(S (:) (.) )S"], gold)
    assert (len(parses.counts), parses.skipped) == (1, 1)
    scores = score_by_name(BRACKET_METRICS, parses)
    assert scores["exact_match"].value == 0


@pytest.mark.slow
def test_wrapped_is_f1_of_trees_with_another_node_below_the_root(
    pairs: list[tuple[Tree, Tree]],
) -> None:
    def wrapped(tree: Tree) -> Tree:
        return read_tree(f"(S1 (S {str(tree).removeprefix('(TOP ')})", "wrapped")

    dash = Tree((";",), (":",), ())  # nothing in it counts, wrapped or not
    pairs = [*pairs, (dash, dash)]
    counts = [count(wrapped(gold), wrapped(predicted)) for gold, predicted in pairs]
    matched, gold, predicted = (
        sum(getattr(item, name) for item in counts) for name in ("matched", "gold", "predicted")
    )
    outputs = [linearize(predicted, "tags") for _, predicted in pairs]
    scores = score_by_name(BRACKET_METRICS, read_parses(outputs, [gold for gold, _ in pairs]))
    expected = 200 * matched / (gold + predicted)
    assert scores["bracket_f1_wrapped"].value == pytest.approx(expected)
    assert expected > scores["bracket_f1"].value + 0.1


def test_malformed_parses_are_repaired_scored_and_counted() -> None:
    tree = read_tree("(S (NP (X a)) (VP (X b)))", "gold")
    parses = read_parses(["", "no tree at all", "(S (NP (X)"], [tree] * 3)
    assert (len(parses.counts), parses.repaired, parses.skipped) == (3, 3, 0)
    scores = score_by_name(BRACKET_METRICS, parses)
    # of nine brackets one is found; of two predicted, NP extends to the end of the sentence
    assert scores["bracket_recall"].value == pytest.approx(100 / 9)
    assert scores["bracket_precision"].value == 50


def test_a_sentence_of_500_words() -> None:
    tree = Tree(("w",) * 500, ("NN",) * 500, (Bracket("S", 0, 500),))
    parses = read_parses([linearize(tree, "tags")], [tree])
    assert dict(f1_by_length(parses)) == {"61+": LengthClass(sentences=1, f1=100.0)}
    assert "bracket_f1_40" not in score_by_name(BRACKET_METRICS, parses)


@pytest.mark.parametrize(
    ("outputs", "trees", "expected"),
    [
        ([], ["(S (X a))"], "0 outputs cannot be scored against 1 trees"),
        ([""], ["(())"], "none of 1"),
    ],
)
def test_nothing_to_score(outputs: list[str], trees: list[str], expected: str) -> None:
    with pytest.raises(ScoreError, match=expected):
        read_parses(outputs, [read_tree(tree, "gold") for tree in trees])
