"""Rules of French grammar, checked in every generated sentence."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.data.corpora.languages import french
from aiayn.data.corpora.languages.derivation import Deriver
from aiayn.data.corpora.languages.syntax import Sentence

seeds = st.integers(min_value=0, max_value=2**32)
fewer_examples = settings(max_examples=30, deadline=None)


def draw(seed: int) -> list[Sentence]:
    deriver = Deriver(seed)
    return [deriver.sentence() for _ in range(40)]


# by the dictionary: words allowed before and after a noun of that gender and number
FORMS = """
m singular article le l' un ce cet mon son chaque au du
m singular before petit grand vieux vieil jeune nouveau nouvel beau bel
m singular noun homme enfant voisin professeur médecin étudiant chien chat cheval oiseau livre
m singular noun chapeau sac jardin musée hôtel
m singular after fatigué heureux malade rouge noir blanc moderne
m plural article les des de d' ces mes ses aux deux trois quatre cinq
m plural before petits grands vieux jeunes nouveaux beaux
m plural noun hommes enfants voisins professeurs médecins étudiants chiens chats chevaux oiseaux
m plural noun livres chapeaux sacs jardins musées hôtels
m plural after fatigués heureux malades rouges noirs blancs modernes
f singular article la l' une cette ma mon sa son chaque
f singular before petite grande vieille jeune nouvelle belle
f singular noun femme fille reine vache lettre pomme fleur image chaise maison école église gare
f singular after fatiguée heureuse malade rouge noire blanche moderne
f plural article les des de d' ces mes ses aux deux trois quatre cinq
f plural before petites grandes vieilles jeunes nouvelles belles
f plural noun femmes filles reines vaches lettres pommes fleurs images chaises maisons écoles
f plural noun églises gares
f plural after fatiguées heureuses malades rouges noires blanches modernes
"""
ALLOWED = {
    (tuple(line.split()[:2]), line.split()[2], word)
    for line in FORMS.strip().splitlines()
    for word in line.split()[3:]
}
BEFORE = {word for _, role, word in ALLOWED if role == "before"}
AFTER = {word for _, role, word in ALLOWED if role == "after"}
NOUNS = {word: features for features, role, word in ALLOWED if role == "noun"}
VOWEL = "[aeiouhâàéèêîôœ]"
MASCULINE_BEFORE_VOWEL = "|".join(
    word
    for word, features in NOUNS.items()
    if features == ("m", "singular") and re.match(VOWEL, word)
)


@fewer_examples
@given(seeds)
def test_determiners_adjectives_and_nouns_agree(seed: int) -> None:
    found = 0
    for sentence in draw(seed):
        words = french.text(sentence).replace("'", "' ").replace(",", " ,").rstrip(".").split()
        words[0] = words[0].lower()
        for position, word in enumerate(words):
            if word not in NOUNS:
                continue
            found += 1
            before, after = words[position - 1], [*words, ""][position + 1]
            if before in BEFORE:
                assert (NOUNS[word], "before", before) in ALLOWED, words
                before = words[position - 2]
            assert (NOUNS[word], "article", before) in ALLOWED, words
            assert after not in AFTER or (NOUNS[word], "after", after) in ALLOWED, words
    assert found > 20


@fewer_examples
@given(seeds)
def test_elides_contracts_and_negates(seed: int) -> None:
    for sentence in draw(seed):
        text = french.text(sentence).lower()
        assert not re.search(rf"\b(le|la|de|que|ne|je|ce|ma|sa|du|au) {VOWEL}", text), text
        assert not re.search(rf"\b(l|d|qu|n|j)'(?!{VOWEL})|' |\bcet (?!{VOWEL})", text), text
        assert not re.search(r"\b(à|de) (le|les)\b(?! soir)", text), text
        assert not re.search(rf"\b(beau|vieux|nouveau) ({MASCULINE_BEFORE_VOWEL})\b", text)
        assert not re.search(rf"\b(bel|vieil|nouvel) (?!{VOWEL})", text), text
        assert not re.search(rf"\bdes ({'|'.join(BEFORE)})\b", text), text
        for found in re.finditer(r"\b(?:ne |n')(\w+) (\w+)", text):
            assert found[2] == "pas", text
        assert len(re.findall(r"\bne |\bn'", text)) == len(re.findall(r"\bpas\b", text))
        assert not re.search(r" ,|,,|,\.|  ", text)
