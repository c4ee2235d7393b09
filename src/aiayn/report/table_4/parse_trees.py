"""A few sentences of a parsing run, the treebank's tree beside the one predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from aiayn.config import Config
from aiayn.data.trees.linear import DUMMY, restore, tags_of
from aiayn.data.trees.tree import TOP, Bracket, Tree
from aiayn.errors import DataError
from aiayn.report.parts.drawing import INK, PALETTE, drawing
from aiayn.report.parts.section import Figure
from aiayn.results import places
from aiayn.results.text import read_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDEST = 66  # characters of a tree that is still legible in half a page
RIGHT, WRONG = 1, 2  # so many parses are shown
GAP = 2.0  # characters between two words


@dataclass(frozen=True)
class Parse:
    """Line `number` (from 1) of the test set."""

    number: int
    gold: Tree
    predicted: Tree
    repaired: bool


def read_parses(config: Config, root: Path) -> dict[str, tuple[Parse, ...]]:
    """Of every parsing run that has outputs: the first parse that is right, the first two that are
    wrong or were repaired.

    Only sentences whose tree is narrow enough to be drawn are looked at.

    Raises:
        DataError: a file is empty or not UTF-8, or the three differ in length.
    """
    found: dict[str, tuple[Parse, ...]] = {}
    for run, described in config.runs.items():
        if config.task(described.task).kind != "parsing":
            continue
        text = root / places.text(described.task)
        paths = [places.lines(text, places.TEST, side) for side in places.SIDES]
        paths.append(places.hypotheses(root / places.outputs(run), places.TEST))
        if all(path.exists() for path in paths):
            found[run] = tuple(_chosen(paths))
    return found


def _chosen(paths: list[Path]) -> Iterator[Parse]:
    wanted = {True: RIGHT, False: WRONG}
    columns = [read_lines(path) for path in paths]
    if len({len(lines) for lines in columns}) > 1:
        counts = ", ".join(f"{p} has {len(c)} lines" for p, c in zip(paths, columns, strict=True))
        raise DataError(f"{counts}. Make them again: dvc repro.")
    for number, (source, target, output) in enumerate(zip(*columns, strict=True), start=1):
        words, symbols = source.split(), target.split()
        tags = tags_of(symbols, len(words))
        gold = restore(symbols, words, tags).tree
        predicted, repaired = restore(output.split(), words, tags)
        right = predicted == gold and not repaired
        if words and sum(_widths(gold)) <= WIDEST and wanted[right]:
            wanted[right] -= 1
            yield Parse(number, gold, predicted, repaired)


def tree_figures(parses: Mapping[str, tuple[Parse, ...]]) -> Iterator[Figure]:
    """A figure for each sentence: the treebank's tree left, the predicted one right."""
    for run, chosen in parses.items():
        for parse in chosen:
            verdict = "brackets differ"
            if parse.gold == parse.predicted:
                verdict = "the same tree" + (", after repair" if parse.repaired else "")
            yield Figure(
                name=f"tree_{run.replace('.', '_')}_{parse.number}",
                title=f"Sentence {parse.number} of the test set: {verdict}",
                caption=(
                    f"Left the treebank's tree, right that of {run}"
                    + (", after repair" if parse.repaired else "")
                    + ". Coloured and underlined: brackets that the other tree lacks. Shown are "
                    "the first sentence parsed right and the first two that are wrong or were "
                    "repaired, of those narrow enough to draw."
                ),
                svg=_side_by_side(parse),
                data=pd.DataFrame(
                    [
                        {
                            "run": run,
                            "sentence": str(parse.number),
                            "tree": name,
                            "bracketing": str(tree),
                        }
                        for name, tree in (("treebank", parse.gold), ("predicted", parse.predicted))
                    ]
                ),
            )


def draw_tree(tree: Tree) -> str:
    """SVG of one tree that holds a word at least, as wide as its words need."""
    levels = max(_levels(tree))
    with drawing(max(2.0, 0.07 * sum(_widths(tree))), 0.5 + 0.3 * levels) as drawn:
        _panel(drawn.figure.add_subplot(), tree, levels, Counter())
    return drawn.svg


def _side_by_side(parse: Parse) -> str:
    trees = (("treebank", parse.gold), ("predicted", parse.predicted))
    levels = max(max(_levels(tree)) for _, tree in trees)
    with drawing(9.0, 0.9 + 0.3 * levels) as drawn:
        panels = drawn.figure.subplots(1, 2)
        for axes, (name, tree), (_, other) in zip(panels, trees, reversed(trees), strict=True):
            axes.set_title(name, fontsize=8)
            _panel(axes, tree, levels, Counter(tree.brackets) - Counter(other.brackets))
    return drawn.svg


def _panel(axes: Axes, tree: Tree, levels: int, marked: Counter[Bracket]) -> None:
    """The tree on axes of its own, with room for so many levels."""
    axes.set_axis_off()
    axes.set_xlim(0, sum(_widths(tree)))
    axes.set_ylim(-1.4, levels + 0.5)
    _draw(axes, tree, marked)


def _draw(axes: Axes, tree: Tree, marked: Counter[Bracket]) -> None:
    """Words on the ground, each constituent above its own, lines between parent and child."""
    ends = [0.0]
    for width in _widths(tree):
        ends.append(ends[-1] + width)
    words = [(left + right) / 2 for left, right in pairwise(ends)]
    places = [
        ((words[b.start] + words[b.end - 1]) / 2, level)
        for b, level in zip(tree.brackets, _levels(tree)[1:], strict=True)
    ]
    places.insert(0, ((words[0] + words[-1]) / 2, _levels(tree)[0]))
    labels = [TOP, *(bracket.label for bracket in tree.brackets)]
    for n, (label, place) in enumerate(zip(labels, places, strict=True)):
        bracket = tree.brackets[n - 1] if n else None
        wrong = bracket is not None and marked[bracket] > 0
        if wrong and bracket is not None:
            marked[bracket] -= 1
            axes.plot([place[0] - 1, place[0] + 1], [place[1] - 0.24] * 2, color=PALETTE[1], lw=0.8)
        _write(axes, *place, label, PALETTE[1] if wrong else INK)
    parents = _parents(tree)
    for n, parent in enumerate(parents[: len(tree.brackets)], start=1):
        _connect(axes, places[parent], places[n])
    for word, parent in enumerate(parents[len(tree.brackets) :]):
        _connect(axes, places[parent], (words[word], 0))
        known = [tree.tags[word]] if tree.tags[word] != DUMMY else []
        for text, y in zip((*known, tree.words[word]), (0, -0.9), strict=False):
            _write(axes, words[word], y, text)


def _write(axes: Axes, x: float, y: float, text: str, colour: str = INK) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=6.5, color=colour)


def _connect(axes: Axes, parent: tuple[float, float], child: tuple[float, float]) -> None:
    # down, across and down again: within the child's own columns, so that no line meets a label
    turn = parent[1] - 0.42
    line = (
        [parent[0], parent[0], child[0], child[0]],
        [parent[1] - 0.32, turn, turn, child[1] + 0.3],
    )
    axes.plot(*line, color=PALETTE[0], lw=0.6, alpha=0.6)


def _widths(tree: Tree) -> list[float]:
    """Room for each word or its tag, in characters."""
    return [max(len(w), len(t)) + GAP for w, t in zip(tree.words, tree.tags, strict=True)]


def _parents(tree: Tree) -> list[int]:
    """The number of the parent of each bracket, then of each word: 0 is TOP, n the n-th bracket."""
    of_brackets: list[int] = []
    of_words = [0] * len(tree.words)
    for n, bracket in enumerate(tree.brackets, start=1):
        of_brackets.append(of_words[bracket.start])
        of_words[bracket.start : bracket.end] = [n] * (bracket.end - bracket.start)
    return of_brackets + of_words


def _levels(tree: Tree) -> list[int]:
    """How high TOP and each bracket stand: one above the highest of its children, words at 0."""
    levels = [1] * (len(tree.brackets) + 1)
    parents = _parents(tree)
    for n in range(len(tree.brackets), 0, -1):  # children come after their parent
        levels[parents[n - 1]] = max(levels[parents[n - 1]], levels[n] + 1)
    return levels
