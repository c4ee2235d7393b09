"""The demo corpus: sentences written by hand, splits that share nothing, translations that are
functions. (What holds in every sentence drawn is in test_english, test_german and test_french.)"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from aiayn.config import Grammar
from aiayn.corpora.grammar import sentences
from aiayn.corpora.languages import english, french, german, lexicon
from aiayn.corpora.languages.derivation import Deriver
from aiayn.corpora.languages.syntax import (
    Adjective,
    Clause,
    Gap,
    Noun,
    NounPhrase,
    Pair,
    Place,
    Sentence,
    Verb,
)
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


def noun(english_singular: str) -> Noun:
    return next(noun for noun in lexicon.NOUNS if noun.english == english_singular)


def verb(base: str) -> Verb:
    return next(v for v in (*lexicon.VERBS, *lexicon.SAYING) if v.english[0] == base)


def adjective(word: str) -> Adjective:
    return next(a for a in (*lexicon.BEFORE, *lexicon.AFTER) if a.english == word)


def phrase(words: str, *, plural: bool = False, relative: Clause | None = None) -> NounPhrase:
    """A noun phrase from "determiner adjective* noun"; "-" stands for no determiner."""
    determiner, *adjectives, head = words.split()
    found = [adjective(word) for word in adjectives]
    before = next((a for a in found if a in lexicon.BEFORE), None)
    after = next((a for a in found if a in lexicon.AFTER), None)
    determiner = determiner.replace("-", "")
    return NounPhrase(determiner, 0, before, after, noun(head), plural, relative)


IN, BEHIND, NEXT_TO = lexicon.PREPOSITIONS
I, HE, SHE = lexicon.PRONOUNS  # noqa: E741
YESTERDAY = next(time for time in lexicon.TIMES if time.german == "gestern")
TOMORROW = next(time for time in lexicon.TIMES if time.german == "morgen")

# written by hand, by the rules of Duden and Grevisse
BY_HAND = {
    "verb second, separable verb, elision": (
        Sentence(
            Clause(
                phrase("the student"),
                verb("invite"),
                "present",
                object=phrase("a beautiful child"),
                place=Place(IN, phrase("the old garden")),
                fronted="place",
            )
        ),
        "In the old garden, the student invites a beautiful child.",
        "Im alten Garten lädt der Student ein schönes Kind ein.",
        "Dans le vieux jardin, l'étudiant invite un bel enfant.",
    ),
    "negation, perfect, contraction": (
        Sentence(
            Clause(
                SHE,
                verb("give"),
                "past",
                negated=True,
                object=phrase("my red bag"),
                recipient=phrase("the neighbour", plural=True),
                time=YESTERDAY,
                fronted="time",
            )
        ),
        "Yesterday, she did not give my red bag to the neighbours.",
        "Gestern hat sie den Nachbarn meine rote Tasche nicht gegeben.",
        "Hier, elle n'a pas donné mon sac rouge aux voisins.",
    ),
    "relative clause behind the verb, agreement of the participle": (
        Sentence(
            Clause(
                HE,
                verb("find"),
                "want",
                object=phrase(
                    "the flower",
                    plural=True,
                    relative=Clause(
                        phrase("a old man"),
                        verb("see"),
                        "past",
                        object=Gap(noun("flower"), True),
                    ),
                ),
            )
        ),
        "He wants to find the flowers that an old man saw.",
        "Er will die Blumen finden, die ein alter Mann gesehen hat.",
        "Il veut trouver les fleurs qu'un vieil homme a vues.",
    ),
    "relative clause of the subject, dative of the pronoun": (
        Sentence(
            Clause(
                phrase(
                    "the dog",
                    plural=True,
                    relative=Clause(I, verb("help"), "present", object=Gap(noun("dog"), True)),
                ),
                verb("arrive"),
                "future",
                time=TOMORROW,
            )
        ),
        "The dogs that I help will arrive tomorrow.",
        "Die Hunde, denen ich helfe, werden morgen ankommen.",
        "Les chiens que j'aide vont arriver demain.",
    ),
    "subordinate clause first, subjunctive, agreement with être": (
        Sentence(
            Clause(
                phrase("every queen"),
                verb("stay"),
                "past",
                place=Place(NEXT_TO, phrase("the hotel")),
                conjunction=lexicon.ALTHOUGH,
                subordinate=Clause(
                    phrase("- big black cow", plural=True),
                    verb("arrive"),
                    "past",
                ),
                fronted="subordinate",
            )
        ),
        "Although big black cows arrived, every queen stayed next to the hotel.",
        "Obwohl große schwarze Kühe angekommen sind, ist jede Königin neben dem Hotel geblieben.",
        "Bien que de grandes vaches noires soient arrivées, chaque reine est restée à côté de "
        "l'hôtel.",
    ),
    "subjunctive of an irregular verb, participle of an intransitive one": (
        Sentence(
            Clause(
                lexicon.THEY,
                verb("work"),
                "present",
                negated=True,
                conjunction=lexicon.ALTHOUGH,
                subordinate=Clause(
                    phrase(
                        "this student",
                        relative=Clause(Gap(noun("student"), False), verb("stay"), "past"),
                    ),
                    verb("see"),
                    "present",
                    object=phrase("the new picture", plural=True),
                ),
            )
        ),
        "They do not work although this student who stayed sees the new pictures.",
        "Sie arbeiten nicht, obwohl dieser Student, der geblieben ist, die neuen Bilder sieht.",
        "Ils ne travaillent pas bien que cet étudiant qui est resté voie les nouvelles images.",
    ),
    "that clause, preposition of the verb": (
        Sentence(
            Clause(
                HE,
                verb("think"),
                "present",
                saying=Clause(
                    phrase("many tired child", plural=True),
                    verb("talk"),
                    "must",
                    object=phrase("the teacher"),
                ),
            )
        ),
        "He thinks that many tired children must talk to the teacher.",
        "Er denkt, dass viele müde Kinder mit dem Lehrer sprechen müssen.",
        "Il pense que beaucoup d'enfants fatigués doivent parler au professeur.",
    ),
    "two main clauses, pairs and predicates": (
        Sentence(
            Clause(
                Pair(phrase("the woman"), phrase("this queen")),
                lexicon.COPULA,
                "past",
                property=adjective("happy"),
            ),
            "but",
            Clause(
                Pair(phrase("my white cow"), phrase("his dog")),
                lexicon.COPULA,
                "present",
                negated=True,
                property=adjective("happy"),
            ),
        ),
        "The woman and this queen were happy, but my white cow and his dog are not happy.",
        "Die Frau und diese Königin waren glücklich, aber meine weiße Kuh und sein Hund sind nicht "
        "glücklich.",
        "La femme et cette reine étaient heureuses, mais ma vache blanche et son chien ne sont pas "
        "heureux.",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_sentences_written_by_hand(name: str) -> None:
    sentence, in_english, in_german, in_french = BY_HAND[name]
    assert english.text(english.tree(sentence)) == in_english
    assert german.text(sentence) == in_german
    assert french.text(sentence) == in_french


def test_a_tree_written_by_hand() -> None:
    sentence = BY_HAND["relative clause behind the verb, agreement of the participle"][0]
    assert english.tree(sentence) == (
        "(S (NP (PRP He)) (VP (VBZ wants) (S (VP (TO to) (VP (VB find) (NP (NP (DT the) "
        "(NNS flowers)) (SBAR (WHNP (WDT that)) (S (NP (DT an) (JJ old) (NN man)) "
        "(VP (VBD saw))))))))) (. .))"
    )


@pytest.mark.parametrize(
    ("head", "plural", "ending"),
    [("hat", False, ""), ("bag", True, "s"), ("flower", False, "e"), ("apple", True, "es")],
)
@pytest.mark.parametrize(
    ("base", "participle"),
    [("see", "vu"), ("find", "trouvé"), ("draw", "dessiné"), ("forget", "oublié")],
)
def test_french_participles_agree_with_a_direct_object_before_them(
    head: str, plural: bool, ending: str, base: str, participle: str
) -> None:
    drawn = Clause(SHE, verb(base), "past", object=Gap(noun(head), plural))
    before = Sentence(Clause(I, verb("see"), "past", object=phrase(f"the {head}", relative=drawn)))
    behind = Sentence(Clause(SHE, verb(base), "past", object=phrase(f"the {head}", plural=plural)))
    assert french.text(before).endswith(f" qu'elle a {participle}{ending}.")
    assert f" a {participle} " in french.text(behind)


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


def merged_by_german() -> list[Sentence]:
    """Pairs like "die Frau, die die Katze sieht, singt": who sees whom?"""
    pairs = []
    for head in ("woman", "queen", "child", "girl"):
        for other in ("cat", "cow", "horse"):
            for base in ("see", "find", "watch"):
                agent = phrase(f"the {other}")
                seeing = Clause(Gap(noun(head), False), verb(base), "present", object=agent)
                seen = Clause(agent, verb(base), "present", object=Gap(noun(head), False))
                for relative in (seeing, seen):
                    subject = phrase(f"the {head}", relative=relative)
                    pairs.append(Sentence(Clause(subject, verb("sing"), "present")))
    return pairs


def test_of_sentences_that_german_merges_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = merged_by_german()
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
    assert len(from_english) < 20_000, "nothing came twice: too few sentences to tell"


def test_the_same_sentences_again_whatever_the_hash_seed() -> None:
    script = (
        "from aiayn.config import Grammar; from aiayn.corpora.grammar import sentences;"
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


def test_a_larger_corpus_begins_with_the_smaller_and_a_seed_makes_another() -> None:
    assert corpus("dev", 60)[:20] == corpus("dev", 20)
    assert corpus("dev", 20) != corpus("dev", 20, seed=4)


def test_languages_come_in_the_order_asked_for() -> None:
    grammar = Grammar(split="train", sentences=5, seed=1)
    forward = list(sentences(grammar, ("de", "tree", "en")))
    assert [row[::-1] for row in forward] == list(sentences(grammar, ("en", "tree", "de")))


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"'es'; it writes en, de, fr, tree, label\."):
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
