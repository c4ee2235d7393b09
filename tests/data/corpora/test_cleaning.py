"""Every rule drops and counts its pairs, and can be switched off."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.config import Cleaning
from aiayn.data.corpora.archives import LINE_BYTES
from aiayn.data.corpora.cleaning import Cleaner, side_keys, stripped

OFF = Cleaning(
    invalid_utf8=False,
    empty=False,
    max_words=None,
    max_ratio=None,
    identical=False,
    duplicates=False,
)
ON = Cleaning(
    invalid_utf8=True,
    empty=True,
    max_words=4,
    max_ratio=2,
    identical=True,
    held_out=True,
    duplicates=True,
)
HELD_OUT = {"howareyou", "wiegehts", "50"}

CASES = {
    "invalid_utf8": [(b"caf\xe9", b"Kaffee"), (b"coffee", b"\xff"), (b"\xed\xa0\x80", b"x")],
    "empty": [(b"", b"x"), (b"x", b" \t\r"), ("\u00a0".encode(), b"x"), (b"", b"")],
    "max_words": [(b"a b c d e", b"a b c d"), (b"a b c d", b"1 2 3 4 5")],
    "max_ratio": [(b"a b c", b"x"), (b"x", b"a b c")],
    "identical": [(b"same", b"same"), (b" same", b"same\r")],
    "held_out": [
        (b"How are you?", b"Wie geht es?"),
        (b"how are you", b"x"),
        (b"x", "\u201eWIE geht\u2019s\u201c".encode()),
        ("\uff15\uff10 %".encode(), b"x"),  # full-width digits are NFKC's 50
    ],
}


@pytest.mark.parametrize(("rule", "pair"), [(rule, p) for rule in CASES for p in CASES[rule]])
def test_a_rule_drops_its_cases(rule: str, pair: tuple[bytes, bytes]) -> None:
    alone = Cleaner(OFF.replace(**{rule: getattr(ON, rule)}), set(), HELD_OUT)
    assert alone.clean(*pair) is None
    assert alone.dropped == {rule: 1}
    if rule == "invalid_utf8":
        with pytest.raises(UnicodeDecodeError):
            Cleaner(OFF, set()).clean(*pair)
    else:
        off = Cleaner(OFF, set(), HELD_OUT)
        assert off.clean(*pair) == tuple(stripped(side) for side in pair)


def test_sides_without_a_letter_or_digit_are_not_compared() -> None:
    assert side_keys(("...", "Na_so was\u00a0!")) == {"nasowas"}
    cleaner = Cleaner(OFF.replace(held_out=True), set(), side_keys(("...", "?")))
    assert cleaner.clean(b"!", b"...") == ("!", "...")


@pytest.mark.parametrize("pair", [(b"a b c d", b"1 2"), (b"1 2", b"a b c d")])
def test_a_pair_at_the_limits_is_kept(pair: tuple[bytes, bytes]) -> None:
    cleaner = Cleaner(ON, set())
    assert cleaner.clean(*pair) is not None
    assert set(cleaner.dropped.values()) == {0}


def test_a_pair_is_counted_by_the_first_rule_that_applies() -> None:
    cleaner = Cleaner(ON, set())
    assert cleaner.clean(b"a b c d e", b"x") is None  # max_ratio would apply too
    assert cleaner.dropped == {
        "invalid_utf8": 0,
        "empty": 0,
        "max_words": 1,
        "max_ratio": 0,
        "identical": 0,
        "held_out": 0,
        "duplicates": 0,
    }
    assert list(cleaner.dropped) == list(Cleaning.model_fields)


def test_the_first_of_duplicates_across_corpora_is_kept() -> None:
    seen: set[bytes] = set()
    first, second = Cleaner(ON, seen), Cleaner(ON, seen)
    assert first.clean(b"a", b"b") == ("a", "b")
    assert second.clean(b" a ", b"b") is None
    assert second.clean(b"a", b"c") == ("a", "c")  # half a pair is no duplicate
    assert second.clean(b"a b", b"") is None
    assert (first.dropped["duplicates"], second.dropped["duplicates"]) == (0, 1)


def test_lines_are_only_stripped() -> None:
    assert stripped(" \tzwei  W\u00f6rter\u2028da \r".encode()) == "zwei  W\u00f6rter\u2028da"


sides = st.one_of(
    st.text("ab \r\u2028", max_size=8).map(str.encode), st.sampled_from([b"\xff", b"\xc3("])
)


@settings(max_examples=50)
@given(st.lists(st.tuples(sides, sides), max_size=40))
def test_every_pair_is_kept_or_counted_and_clean_text_is_clean(
    pairs: list[tuple[bytes, bytes]],
) -> None:
    cleaner = Cleaner(ON, set())
    kept = [pair for pair in (cleaner.clean(*raw) for raw in pairs) if pair]
    assert len(kept) + sum(cleaner.dropped.values()) == len(pairs)
    second_cleaner = Cleaner(ON, set())
    assert [second_cleaner.clean(s.encode(), t.encode()) for s, t in kept] == kept


def test_a_line_that_is_too_long_is_dropped_and_counted() -> None:
    cleaner = Cleaner(OFF, set())
    longest = b"x" * LINE_BYTES
    assert cleaner.clean(longest, b"y") == (longest.decode(), "y")
    assert cleaner.dropped == {}
    for pair in ((longest + b"x", b"y"), (b"y", longest + b"\xc3")):  # cut within a character
        assert cleaner.clean(*pair) is None
    assert cleaner.dropped == {"too_long": 2}
