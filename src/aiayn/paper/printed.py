"""A cell of the paper as printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A cell as the paper prints it: 26.30, 1.0e20, 100K, learned."""

    text: str

    @property
    def value(self) -> float:
        """The number that `text` stands for; 100K is 100,000.

        Raises:
            ValueError: the cell is not a number.
        """
        if self.text.endswith("K"):
            return float(self.text[:-1]) * 1000
        return float(self.text)


def cells(texts: Mapping[str, str]) -> dict[str, Printed]:
    """Printed cells by column; a missing column is empty in the paper."""
    return {column: Printed(text) for column, text in texts.items()}
