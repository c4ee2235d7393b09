"""A few sentences of a parsing run, the treebank's tree beside the one predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import pandas as pd

from aiayn.data.trees.linear import DUMMY, restore, tags_of
from aiayn.data.trees.tree import TOP, Bracket, Tree
from aiayn.report.drawing import INK, PALETTE, drawing
from aiayn.report.evidence import Evidence
from aiayn.report.section import Figure
from aiayn.results import paths
from aiayn.results.text import read_parallel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_WIDTH = 66  # characters of a tree that is still legible in half a page
SHOWN = {True: 1, False: 2}  # parses, by whether they are right
GAP = 2.0  # characters between two words


@dataclass(frozen=True)
class Parse:
    """Line `number` (from 1) of the test set."""

    number: int
    gold: Tree
    predicted: Tree
    repaired: bool


def read_parses(evidence: Evidence) -> dict[str, tuple[Parse, ...]]:
    """Of every parsing run that has outputs: the first parse that is right, the first two that are
    wrong or were repaired.

    Only sentences whose tree is narrow enough to be drawn are considered.

    Raises:
        DataError: a file is empty or not UTF-8, or the three differ in length.
    """
    found: dict[str, tuple[Parse, ...]] = {}
    for run in evidence.scores_of("parsing"):
        folder = evidence.root / paths.text(evidence.config.run(run).task)
        sides = [paths.lines(folder, paths.TEST, side) for side in paths.SIDES]
        output = evidence.hypotheses(run, paths.TEST)
        if output and all(path.exists() for path in sides):
            found[run] = tuple(_chosen(*read_parallel(*sides, output)))
    return found


def _chosen(
    sources: Sequence[str], targets: Sequence[str], outputs: Sequence[str]
) -> Iterator[Parse]:
    remaining = dict(SHOWN)
    lines = zip(sources, targets, outputs, strict=True)
    for number, (source, target, output) in enumerate(lines, start=1):
        words, symbols = source.split(), target.split()
        tags = tags_of(symbols, len(words))
        gold = restore(symbols, words, tags).tree
        predicted, repaired = restore(output.split(), words, tags)
        right = predicted == gold and not repaired
        if words and sum(_widths(gold)) <= MAX_WIDTH and remaining[right]:
            remaining[right] -= 1
            yield Parse(number, gold, predicted, repaired)


def tree_figures(parses: Mapping[str, tuple[Parse, ...]]) -> Iterator[Figure]:
    """A figure for each sentence: the treebank's tree left, the predicted one right."""
    for run, chosen in parses.items():
        for parse in chosen:
            repair = ", after repair" if parse.repaired else ""
            same = parse.gold == parse.predicted
            verdict = f"the same tree{repair}" if same else "brackets differ"
            trees = {"treebank": parse.gold, "predicted": parse.predicted}
            yield Figure(
                name=f"tree_{run.replace('.', '_')}_{parse.number}",
                title=f"Sentence {parse.number} of the test set: {verdict}",
                caption=f"Left the treebank's tree, right that of {run}{repair}. Coloured and "
                "underlined: brackets that the other tree lacks. Shown are the first sentence "
                "parsed right and the first two that are wrong or were repaired, of those narrow "
                "enough to draw.",
                svg=_side_by_side(trees),
                data=pd.DataFrame(
                    {
                        "run": run,
                        "sentence": parse.number,
                        "tree": trees.keys(),
                        "bracketing": map(str, trees.values()),
                    }
                ),
            )


def draw_tree(tree: Tree) -> str:
    """SVG of a tree that has a word at least, as wide as its words need."""
    levels = max(_levels(tree))
    with drawing(max(2.0, 0.07 * sum(_widths(tree))), 0.5 + 0.3 * levels) as drawn:
        _draw(drawn.figure.add_subplot(), tree, levels, Counter())
    return drawn.svg


def _side_by_side(trees: Mapping[str, Tree]) -> str:
    levels = max(max(_levels(tree)) for tree in trees.values())
    with drawing(9.0, 0.9 + 0.3 * levels) as drawn:
        panels = drawn.figure.subplots(1, 2)
        others = reversed(list(trees.values()))
        for axes, (name, tree), other in zip(panels, trees.items(), others, strict=True):
            axes.set_title(name, fontsize=8)
            _draw(axes, tree, levels, Counter(tree.brackets) - Counter(other.brackets))
    return drawn.svg


def _draw(axes: Axes, tree: Tree, levels: int, marked: Counter[Bracket]) -> None:
    """Words at the bottom, each constituent above its words, lines between parent and child.

    Args:
        levels: the height of the panel.
        marked: brackets to colour and underline.
    """
    axes.set_axis_off()
    axes.set_xlim(0, sum(_widths(tree)))
    axes.set_ylim(-1.4, levels + 0.5)
    words = [(left + right) / 2 for left, right in pairwise([0.0, *accumulate(_widths(tree))])]
    nodes = [Bracket(TOP, 0, len(tree.words)), *tree.brackets]
    points: list[tuple[float, float]] = [
        ((words[node.start] + words[node.end - 1]) / 2, level)
        for node, level in zip(nodes, _levels(tree), strict=True)
    ]
    for node, (x, y) in zip(nodes, points, strict=True):
        if is_marked := marked[node] > 0:
            marked[node] -= 1
            axes.plot([x - 1, x + 1], [y - 0.24] * 2, color=PALETTE[1], lw=0.8)
        _write(axes, x, y, node.label, PALETTE[1] if is_marked else INK)
    of_brackets, of_words = _parents(tree)
    for parent, point in zip(of_brackets, points[1:], strict=True):
        _connect(axes, points[parent], point)
    for x, word, tag, parent in zip(words, tree.words, tree.tags, of_words, strict=True):
        _connect(axes, points[parent], (x, 0))
        for text, y in zip((word,) if tag == DUMMY else (tag, word), (0, -0.9), strict=False):
            _write(axes, x, y, text)


def _write(axes: Axes, x: float, y: float, text: str, colour: str = INK) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=6.5, color=colour)


def _connect(axes: Axes, parent: tuple[float, float], child: tuple[float, float]) -> None:
    # down, across and down again: within the child's columns, so that no line crosses a label
    (x, top), (child_x, bottom) = parent, child
    turn = top - 0.42
    axes.plot(
        [x, x, child_x, child_x], [top - 0.32, turn, turn, bottom + 0.3],
        color=PALETTE[0], lw=0.6, alpha=0.6,
    )  # fmt: skip


def _widths(tree: Tree) -> list[float]:
    """Of each word or its tag, whichever is longer, in characters."""
    return [max(len(w), len(t)) + GAP for w, t in zip(tree.words, tree.tags, strict=True)]


def _parents(tree: Tree) -> tuple[list[int], list[int]]:
    """The number of the parent of each bracket, and of each word: 0 is TOP, n the n-th bracket."""
    of_brackets: list[int] = []
    of_words = [0] * len(tree.words)
    for n, bracket in enumerate(tree.brackets, start=1):
        of_brackets.append(of_words[bracket.start])
        of_words[bracket.start : bracket.end] = [n] * (bracket.end - bracket.start)
    return of_brackets, of_words


def _levels(tree: Tree) -> list[int]:
    """The heights of TOP and of each bracket: one above the highest of its children, words at 0."""
    levels = [1] * (len(tree.brackets) + 1)
    of_brackets, _ = _parents(tree)
    # children come after their parent
    for n, parent in reversed(list(enumerate(of_brackets, start=1))):
        levels[parent] = max(levels[parent], levels[n] + 1)
    return levels
