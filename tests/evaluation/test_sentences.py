"""sacreBLEU's paired bootstrap over sentences."""

from __future__ import annotations

import math

from aiayn.evaluation.sentences import paired


def test_lowercased_words_are_counted_as_they_stand() -> None:
    """Alone and in the test over sentences: closed form, and no second tokenization."""
    references = ["a b c d.e f"]  # sacreBLEU's own tokenizer would part d.e
    hypotheses = {"base": ["a b c d.e"], "other": ["a b c d.e f"]}
    for others in ([], ["other"]):
        signature, found = paired("base", others, hypotheses, references, "lowercased_tokens")
        assert {"tok:none", "smooth:none"} < set(signature.split("|"))
        assert found["base"].bleu == round(100 * math.exp(1 - 5 / 4), 2)


def test_no_other_choice_of_sentences_where_there_is_one() -> None:
    """Nor where the outputs are the same: sacreBLEU's p is then the least there is."""
    references = ["a b c d e f", "a b c d e"]
    for sentences, outputs in ((1, ["a b c d e"]), (2, references)):
        hypotheses = {"base": references[:sentences], "other": outputs}
        _, found = paired("base", ["other"], hypotheses, references[:sentences])
        assert found["other"].sentences
        assert found["other"].sentences.p_value == 1
