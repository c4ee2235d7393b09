"""The demo's grammar over sentences written by hand, in each of its languages."""

from __future__ import annotations

import pytest
from tests.data.corpora.phrases import adjective, noun, phrase, verb

from aiayn.data.corpora.languages import english, french, german, lexicon
from aiayn.data.corpora.languages.syntax import Clause, Gap, Pair, Place, Sentence

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
