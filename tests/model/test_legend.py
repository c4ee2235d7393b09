"""Shape suffixes: every letter in use is in the legend, exactly once."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

from aiayn.model import transformer

PACKAGES = ("model", "training", "decoding", "illustrations", "profiling")
SUFFIX = re.compile(r"[a-z0-9]_([A-Z0-9]+)$")


def legend() -> list[str]:
    assert transformer.__doc__ is not None
    return re.findall(r"^(\w) \| ", transformer.__doc__, flags=re.MULTILINE)


def used_letters(root: Path) -> dict[str, str]:
    """Letters in the suffixes of all variable names, each with an example."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        for path in (root / "src/aiayn" / package).rglob("*.py"):
            with path.open("rb") as file:
                for token in tokenize.tokenize(file.readline):
                    suffix = SUFFIX.search(token.string) if token.type == tokenize.NAME else None
                    if suffix and not suffix[1].isdigit():
                        found |= dict.fromkeys(suffix[1], f"{path.name}: {token.string}")
    return found


def test_the_legend_is_complete(root: Path) -> None:
    letters = used_letters(root)
    assert len(letters) > 10
    assert not {letters[letter] for letter in letters.keys() - set(legend())}


def test_no_letter_twice() -> None:
    assert len(set(legend())) == len(legend()) > 10


def test_no_unused_letter(root: Path) -> None:
    assert set(legend()) <= used_letters(root).keys()
