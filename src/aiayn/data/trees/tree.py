"""A parse tree as its words and the brackets over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

TOP = "TOP"


class Bracket(NamedTuple):
    """A constituent over the words start, ..., end - 1; at least one word."""

    label: str
    start: int
    end: int


@dataclass(frozen=True)
class Tree:
    """A parse tree, without its TOP node.

    `tags` has the part of speech of every word. `brackets` are in preorder: outer before inner,
    left before right, so that brackets over the same words form a unary chain, from top to bottom.
    The flat form allows trees of any depth without recursion.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    brackets: tuple[Bracket, ...]

    def __str__(self) -> str:
        """On one line in the format of the Penn Treebank, under (TOP ...)."""
        parts = [
            f"({item.label} "
            if isinstance(item, Bracket)
            else ") "
            if item is None
            else f"({self.tags[item]} {self.words[item]}) "
            for item in walk(self)
        ]
        return f"({TOP} {''.join(parts)}".replace(" )", ")").rstrip() + ")"


def walk(tree: Tree) -> Iterator[Bracket | int | None]:
    """Traverse a tree from left to right: yields opening brackets, word indices, and None for a
    closing bracket."""
    open_ends: list[int] = []
    waiting = iter(tree.brackets)
    following = next(waiting, None)
    for word in range(len(tree.words)):
        while following is not None and following.start == word:
            yield following
            open_ends.append(following.end)
            following = next(waiting, None)
        yield word
        while open_ends and open_ends[-1] == word + 1:
            yield None
            open_ends.pop()
