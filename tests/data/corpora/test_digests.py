"""The table agrees with a set, and keeps to the memory it promises."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.data.corpora.digests import Digests


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=2), max_size=300))
def test_agrees_with_a_set(texts: list[bytes]) -> None:
    digests = Digests(slots=4)  # so that it grows often
    seen: set[bytes] = set()
    for text in texts:
        assert digests.add(text) == (text not in seen)
        seen.add(text)
    assert len(digests) == len(seen)


def test_memory_is_bounded_by_text() -> None:
    digests = Digests()
    for number in range(50_000):
        digests.add(b"%d" % number)
        if number > 1000:
            assert 12 <= digests.table_bytes / len(digests) <= 24.1
