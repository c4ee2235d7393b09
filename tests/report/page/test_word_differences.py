from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aiayn.report.page.word_differences import Mark, Words, differences

SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "<b>"]), max_size=8).map(" ".join)


@given(SENTENCES, SENTENCES)
def test_both_sentences_can_be_read_off(reference: str, hypothesis: str) -> None:
    found = differences(reference, hypothesis)
    for sentence, foreign in ((hypothesis, Mark.MISSING), (reference, Mark.ADDED)):
        assert " ".join(words.text for words in found if words.mark is not foreign) == sentence


@given(SENTENCES)
def test_a_sentence_does_not_differ_from_itself(sentence: str) -> None:
    assert all(words.mark is Mark.SAME for words in differences(sentence, sentence))


def test_a_changed_word_is_missing_and_then_added() -> None:
    assert differences("der rote Hund schläft", "der große Hund schläft") == (
        Words("der", Mark.SAME),
        Words("rote", Mark.MISSING),
        Words("große", Mark.ADDED),
        Words("Hund schläft", Mark.SAME),
    )
