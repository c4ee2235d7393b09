"""The demo corpus: disjoint splits, unique translations, frequent words.

Sentences written by hand are in test_hand_written_sentences; the rules for every generated sentence are in
test_english, test_german and test_french.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from tests.data.corpora.phrases import noun, phrase, verb

from aiayn.config import Grammar
from aiayn.data.corpora.grammar import sentences
from aiayn.data.corpora.languages import english, french, german, lexicon
from aiayn.data.corpora.languages.derivation import Deriver
from aiayn.data.corpora.languages.syntax import Clause, Gap, Sentence
from aiayn.errors import ConfigError

ALL = ("en", "de", "fr", "tree")


def draw(seed: int, number: int = 40) -> list[Sentence]:
    deriver = Deriver(seed)
    return [deriver.sentence() for _ in range(number)]


def corpus(split: str, number: int, seed: int = 2017) -> list[tuple[str, ...]]:
    return list(sentences(Grammar(split=split, sentences=number, seed=seed), ALL))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def train() -> list[tuple[str, ...]]:
    return corpus("train", 20_000)


@pytest.mark.slow
def test_sentences_are_distinct_in_every_language(train: list[tuple[str, ...]]) -> None:
    for position in range(len(ALL)):
        assert len({row[position] for row in train}) == 20_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2017, 3])
@pytest.mark.parametrize("split", ["dev", "test"])
def test_no_sentence_of_another_split_occurs_in_train(
    train: list[tuple[str, ...]], split: str, seed: int
) -> None:
    held_out = corpus(split, 500, seed)
    assert len(held_out) == 500
    for position in range(len(ALL)):
        assert not {row[position] for row in held_out} & {row[position] for row in train}


def ambiguous_in_german() -> list[Sentence]:
    """Pairs like "die Frau, die die Katze sieht, singt": who sees whom?"""
    pairs = []
    for head in ("woman", "queen", "child", "girl"):
        for animal in ("cat", "cow", "horse"):
            for base in ("see", "find", "watch"):
                agent = phrase(f"the {animal}")
                seeing = Clause(Gap(noun(head), False), verb(base), "present", object=agent)
                seen = Clause(agent, verb(base), "present", object=Gap(noun(head), False))
                for relative in (seeing, seen):
                    subject = phrase(f"the {head}", relative=relative)
                    pairs.append(Sentence(Clause(subject, verb("sing"), "present")))
    return pairs


def test_of_sentences_equal_in_german_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = ambiguous_in_german()
    for write in (lambda sentence: english.text(english.tree(sentence)), french.text):
        assert len({write(sentence) for sentence in pairs}) == len(pairs)
    assert len({german.text(sentence) for sentence in pairs}) == len(pairs) // 2
    used: list[str] = []
    for split in ("train", "dev", "test"):
        drawn = iter(pairs)
        monkeypatch.setattr(Deriver, "sentence", lambda _, drawn=drawn: next(drawn))
        grammar = Grammar(split=split, sentences=len(pairs), seed=1)
        with pytest.raises(RuntimeError, match="StopIteration"):
            used.extend(text for (text,) in sentences(grammar, ("de",)))
    assert sorted(used) == sorted({german.text(sentence) for sentence in pairs})


@pytest.mark.slow
def test_translations_are_functions_of_the_english_sentence() -> None:
    """So is English of French: with German deciding the split, no language's can leak."""
    from_english: dict[str, tuple[str, str, str]] = {}
    from_french: dict[str, str] = {}
    for sentence in draw(5, 20_000):
        tree = english.tree(sentence)
        in_english, in_french = english.text(tree), french.text(sentence)
        translations = (german.text(sentence), in_french, tree)
        assert from_english.setdefault(in_english, translations) == translations
        assert from_french.setdefault(in_french, in_english) == in_english
    assert len(from_english) < 20_000, "no sentence occurs twice: too few to test anything"


def test_the_same_sentences_with_any_hash_seed() -> None:
    script = (
        "from aiayn.config import Grammar; from aiayn.data.corpora.grammar import sentences;"
        "import sys; rows = sentences(Grammar(split='test', sentences=50, seed=1), ('en', 'fr'));"
        "sys.stdout.buffer.write(repr(list(rows)).encode())"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    )
    assert first == second
    assert len(first) > 50


def test_a_larger_corpus_begins_with_the_smaller_and_depends_on_the_seed() -> None:
    assert corpus("dev", 60)[:20] == corpus("dev", 20)
    assert corpus("dev", 20) != corpus("dev", 20, seed=4)


def test_languages_are_in_the_requested_order() -> None:
    grammar = Grammar(split="train", sentences=5, seed=1)
    forward = list(sentences(grammar, ("de", "tree", "en")))
    assert [row[::-1] for row in forward] == list(sentences(grammar, ("en", "tree", "de")))


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"'es'; it has en, de, fr, tree, label\."):
        sentences(Grammar(split="train", sentences=1, seed=1), ("en", "es"))


def test_lengths_are_those_of_short_prose(train: list[tuple[str, ...]]) -> None:
    lengths = [len(re.findall(r"[\w']+|[.,]", row[0])) for row in train]
    assert 12 <= sum(lengths) / len(lengths) <= 15
    assert min(lengths) >= 3
    assert max(lengths) <= 45


def test_every_word_occurs_often_enough_to_be_learned(train: list[tuple[str, ...]]) -> None:
    counts = Counter(word.lower() for row in train for word in re.findall(r"\w+", row[0]))
    for word in lexicon.NOUNS:
        assert counts[word.english] + counts[word.english_plural] > 200, word.english
    for adjective_ in (*lexicon.BEFORE, *lexicon.AFTER):
        assert counts[adjective_.english] > 200, adjective_.english
    for verb_ in (*lexicon.VERBS, *lexicon.SAYING):
        assert sum(counts[form] for form in verb_.english) > 200, verb_.english
