from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu import corpus_bleu

from aiayn.report.by_length import BUCKETS, bleu_by_length, buckets_of
from aiayn.report.examples import TranslatedSet


@given(st.lists(st.integers(0, 40), min_size=1, max_size=200))
def test_buckets_split_the_set_by_length(lengths: list[int]) -> None:
    buckets = buckets_of(pd.Series(lengths))
    assert 1 <= buckets.nunique() <= BUCKETS
    parts = [part for _, part in pd.Series(lengths).groupby(buckets)]
    assert sum(map(len, parts)) == len(lengths)
    for shorter, longer in pairwise(parts):
        assert shorter.max() < longer.min()


@pytest.mark.parametrize(
    ("form", "options"),
    [("raw", {}), ("lowercased_tokens", {"tokenize": "none", "smooth_method": "none"})],
)
def test_each_point_is_the_bleu_of_its_sentences(form: str, options: dict[str, str]) -> None:
    """13a splits the full stop from its word; tokenized text has it split where it should be."""
    short, long = ["a b c d e."] * 6, ["a b c d e f g h i."] * 6
    hypotheses = [*short, *["a b c d x f g h i ."] * 6]
    test_set = TranslatedSet(
        "en-de", "en", "de", "toy", form, [*short, *long], [*short, *long], {"r": hypotheses}
    )
    figure = bleu_by_length(test_set, ["r"])
    wrong = corpus_bleu(hypotheses[6:], [long], **options).score
    assert figure.data[["shortest", "pairs", "bleu"]].values.tolist() == [
        [5, 6, "100.00"],
        [9, 6, f"{wrong:.2f}"],
    ]
