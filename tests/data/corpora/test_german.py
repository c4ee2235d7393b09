"""Rules of German grammar, checked in every generated sentence."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile

from hypothesis import given, settings
from hypothesis import strategies as st

from aiayn.data.corpora.languages import german, lexicon
from aiayn.data.corpora.languages.derivation import Deriver
from aiayn.data.corpora.languages.syntax import Clause, Nominal, NounPhrase, Pair, Pronoun, Sentence

seeds = st.integers(min_value=0, max_value=2**32)
fewer_examples = settings(max_examples=30)


def draw(seed: int) -> list[Sentence]:
    deriver = Deriver(seed)
    return [deriver.sentence() for _ in range(40)]


# gender by the dictionary; singular and plural nominative
GERMAN = {
    "m": "Mann Männer Lehrer Lehrer Arzt Ärzte Student Studenten Nachbar Nachbarn Hund Hunde "
    "Vogel Vögel Brief Briefe Apfel Äpfel Hut Hüte Stuhl Stühle Garten Gärten Bahnhof Bahnhöfe",
    "f": "Frau Frauen Königin Königinnen Katze Katzen Kuh Kühe Blume Blumen Tasche Taschen "
    "Schule Schulen Kirche Kirchen",
    "n": "Kind Kinder Mädchen Mädchen Pferd Pferde Buch Bücher Bild Bilder Haus Häuser "
    "Museum Museen Hotel Hotels",
}
WEAK_NOUNS = {"Student": "Studenten", "Nachbar": "Nachbarn"}
# allowed openings of a phrase: determiner and adjective endings, by gender and case
OPENINGS = """
m nominative der e, dieser e, jeder e, ein er, mein er, sein er
m accusative den en, diesen en, jeden en, einen en, meinen en, seinen en
m dative dem en, im en, diesem en, jedem en, einem en, meinem en, seinem en
f nominative die e, diese e, jede e, eine e, meine e, seine e
f dative der en, dieser en, jeder en, einer en, meiner en, seiner en
n nominative das e, dieses e, jedes e, ein es, mein es, sein es
n dative dem en, im en, diesem en, jedem en, einem en, meinem en, seinem en
plural nominative die en, diese en, meine en, seine en, viele e, - e
plural dative den en, diesen en, meinen en, seinen en, vielen en, - en
"""
STEM = "(?:klein|groß|alt|jung|neu|schön|müd|glücklich|krank|rot|schwarz|weiß|modern)"
TIME = "heute Morgen|heute|morgen|gestern|am Abend|jeden Tag|letztes Jahr|nächste Woche"
NUMERALS = ("zwei", "drei", "vier", "fünf")
RELATIVE_PRONOUNS = ("der", "die", "das", "den", "dem", "denen")


def phrases_allowed() -> set[tuple[str, str, str]]:
    """(determiner or "-", adjective ending, noun) for every noun and case."""
    allowed = set()
    for line in OPENINGS.strip().splitlines():
        row, case, options = line.split(" ", 2)
        for gender, forms in GERMAN.items():
            words = forms.split()
            for singular, plural in zip(words[::2], words[1::2], strict=True):
                if row == "plural":
                    dative = plural if plural[-1] in "ns" else plural + "n"
                    head = dative if case == "dative" else plural
                elif row == gender:
                    head = singular if case == "nominative" else WEAK_NOUNS.get(singular, singular)
                else:
                    continue
                for option in options.split(", "):
                    determiner, ending = option.split()
                    allowed.add((determiner, ending, head))
    return allowed


ALLOWED = phrases_allowed()
NOUNS = {noun for _, _, noun in ALLOWED}
DETERMINERS = {determiner for determiner, _, _ in ALLOWED}


def check_agreement(words: list[str], position: int) -> None:
    """The noun at `position` agrees with its adjectives and determiner."""
    endings = set()
    start = position - 1
    while match := re.fullmatch(f"{STEM}(e|en|em|er|es)", words[start], re.IGNORECASE):
        endings.add(match[1])
        start -= 1
    start -= words[start].lower() in NUMERALS
    determiner = words[start].lower()
    readings = {determiner if determiner in DETERMINERS else "-"}
    if determiner in RELATIVE_PRONOUNS and words[start - 1] == ",":
        readings.add("-")
    assert len(endings) <= 1, f"adjectives disagree: {words}"
    allowed = {(d, noun) for d, ending, noun in ALLOWED if not endings or ending in endings}
    assert {(reading, words[position]) for reading in readings} & allowed, words


@fewer_examples
@given(seeds)
def test_determiners_adjectives_and_nouns_agree(seed: int) -> None:
    found = 0
    for sentence in draw(seed):
        text = re.sub(rf"\b({TIME})\b", "-", german.text(sentence), flags=re.IGNORECASE)
        words = ["-", "-", *re.findall(r"[\w-]+|,", text)]
        for position, word in enumerate(words):
            if word in NOUNS:
                check_agreement(words, position)
                found += 1
    assert found > 20


FINITE = {*german.HAVE, *german.BE, *german.WAS}.union(
    *german.MODALS.values(), *(verb.german[:3] for verb in (*lexicon.VERBS, *lexicon.SAYING))
)
PREFIXED = {verb.german_prefix + form for verb in lexicon.VERBS for form in verb.german[:3]}


@fewer_examples
@given(seeds)
def test_main_clauses_have_the_verb_second(seed: int) -> None:
    """Exactly one part of the clause precedes the verb."""
    for sentence in draw(seed):
        clause, text = sentence.first, german.text(sentence)
        words = re.findall(r"\w+", text)
        before = list(takewhile(lambda word: word not in FINITE, words))
        nouns = [word for word in before if word in NOUNS]
        if clause.fronted == "time" and clause.time is not None:
            assert " ".join(before).lower() == clause.time.german.lower()
        elif clause.fronted == "place":
            assert before[0] in ("Im", "In", "Hinter", "Neben")
            assert nouns == before[-1:]
        elif clause.fronted == "subordinate" and clause.subordinate is not None:
            if not any(dependent_clauses(clause.subordinate)):
                _, rest = text.split(f" {finite_form(clause.subordinate)}, ", 1)
                assert rest.split()[0] in FINITE, text
        elif not has_relative(clause.subject):
            parts = {Pronoun: 0, NounPhrase: 1, Pair: 2}[type(clause.subject)]
            assert len(nouns) == parts, text
            assert before[-1:] == nouns[-1:] or len(before) == 1


def finite_form(clause: Clause) -> str:
    """The verb form that must end a dependent clause."""
    bare = replace(clause, object=None, recipient=None, place=None)
    embedded = Sentence(Clause(lexicon.PRONOUNS[0], lexicon.SAYING[0], "present", saying=bare))
    return german.text(embedded).removesuffix(".").split()[-1]


def has_relative(nominal: Nominal | None) -> bool:
    return isinstance(nominal, NounPhrase) and nominal.relative is not None


def dependent_clauses(clause: Clause) -> list[Clause]:
    relatives = [
        nominal.relative
        for nominal in (clause.subject, clause.object)
        if isinstance(nominal, NounPhrase)
    ]
    found = [c for c in (clause.saying, clause.subordinate, *relatives) if c is not None]
    return found + [inner for outer in found for inner in dependent_clauses(outer)]


@fewer_examples
@given(seeds)
def test_dependent_clauses_have_the_verb_last(seed: int) -> None:
    found = 0
    for sentence in draw(seed):
        text = german.text(sentence)
        for clause in dependent_clauses(sentence.first):
            found += 1
            assert finite_form(clause) in FINITE | PREFIXED
            assert re.search(rf" {finite_form(clause)}[,.]", text), text
    assert found > 5


@fewer_examples
@given(seeds)
def test_punctuation_and_capitals(seed: int) -> None:
    for sentence in draw(seed):
        text = german.text(sentence)
        assert not re.search(r",\s*[,.]|\s[,.]|  |\bin dem\b", text)
        assert text[0].isupper()
        for word in re.findall(r"(?<=\s)[A-ZÄÖÜ]\w*", text):
            assert word in NOUNS | {"Morgen", "Abend", "Tag", "Jahr", "Woche"}, word
        for opening in ("weil", "wenn", "während", "obwohl", "dass"):
            assert f" {opening} " not in text.replace(f", {opening} ", "")
