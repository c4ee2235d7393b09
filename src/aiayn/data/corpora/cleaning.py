"""Cleaning rules that drop training pairs, with counts."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Set

from aiayn.config import Cleaning
from aiayn.data.corpora.archives import LINE_BYTES

Pair = tuple[str, str]
Rule = Callable[[str, str], bool]

_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+")


def stripped(line: bytes) -> str:
    r"""The text of a line without surrounding white space, which includes "\r".

    Raises:
        UnicodeDecodeError: the line is not UTF-8.
    """
    return line.decode("utf-8").strip()


def side_keys(pair: Pair) -> set[str]:
    """The keys by which the rule `held_out` compares sides: only letters and digits, in NFKC and
    lower case. A side without any has no key."""
    lowered = (unicodedata.normalize("NFKC", side).lower() for side in pair)
    return {_NEITHER_LETTER_NOR_DIGIT.sub("", side) for side in lowered} - {""}


class Cleaner:
    """Drops pairs by the configured rules, in this order; a pair counts for the first that applies.

    - invalid_utf8: a side is not UTF-8
    - empty: a side is empty after stripping
    - max_words: a side has more words, separated by white space, than this
    - max_ratio: one side has more than this many times the words of the other
    - identical: both sides are the same text
    - held_out: a side also occurs in a held-out set (see `side_keys`)
    - duplicates: the same pair was kept before

    The rule too_long is always on and comes first: a side has more than LINE_BYTES, so it was
    truncated in reading. It is listed only if it applies.
    """

    def __init__(
        self, rules: Cleaning, seen: set[bytes], held_out_keys: Set[str] = frozenset()
    ) -> None:
        """`seen` has a digest of every pair kept so far; a task's cleaners share it, to find
        duplicates across corpora. `held_out_keys` are the `side_keys` of the task's dev and test
        sets."""
        self._drops_invalid_utf8 = rules.invalid_utf8
        self._rules = _active_rules(rules, seen, held_out_keys)
        self.dropped = {name: 0 for name, _ in self._rules}
        if rules.invalid_utf8:
            self.dropped = {"invalid_utf8": 0, **self.dropped}

    def clean(self, source: bytes, target: bytes) -> Pair | None:
        """The pair as text, or None if a rule dropped it.

        Raises:
            UnicodeDecodeError: a side is not UTF-8, and the rule invalid_utf8 is off.
        """
        if max(len(source), len(target)) > LINE_BYTES:
            self.dropped["too_long"] = self.dropped.get("too_long", 0) + 1
            return None
        try:
            pair = stripped(source), stripped(target)
        except UnicodeDecodeError:
            if not self._drops_invalid_utf8:
                raise
            self.dropped["invalid_utf8"] += 1
            return None
        for name, applies in self._rules:
            if applies(*pair):
                self.dropped[name] += 1
                return None
        return pair


def _active_rules(
    rules: Cleaning, seen: set[bytes], held_out_keys: Set[str]
) -> list[tuple[str, Rule]]:
    max_words, max_ratio = rules.max_words, rules.max_ratio
    active: list[tuple[str, Rule]] = []
    if rules.empty:
        active.append(("empty", lambda source, target: not source or not target))
    if max_words is not None:
        active.append(("max_words", lambda *pair: max(_word_counts(pair)) > max_words))
    if max_ratio is not None:
        active.append(("max_ratio", lambda *pair: _ratio_exceeds(max_ratio, _word_counts(pair))))
    if rules.identical:
        active.append(("identical", lambda source, target: source == target))
    if rules.held_out:
        active.append(("held_out", lambda *pair: not held_out_keys.isdisjoint(side_keys(pair))))
    if rules.duplicates:
        active.append(("duplicates", lambda *pair: _occurred(seen, pair)))
    return active


def _occurred(seen: set[bytes], pair: tuple[str, ...]) -> bool:
    """Whether a pair's digest is in `seen`; adds it.

    The probability of a collision of the 64-bit digests of n pairs is n^2 / 2^65: 4e-5 for 36
    million.
    """
    # texts contain no newlines, so the boundary between the sides is unambiguous
    digest = hashlib.blake2b("\n".join(pair).encode(), digest_size=8).digest()
    if digest in seen:
        return True
    seen.add(digest)
    return False


def _word_counts(pair: tuple[str, ...]) -> list[int]:
    return [len(text.split()) for text in pair]


def _ratio_exceeds(limit: float, counts: list[int]) -> bool:
    return max(counts) > limit * min(counts)
