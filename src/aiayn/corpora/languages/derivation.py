"""Draws abstract sentences at random, within the bounds that keep every translation unique.

English leaves some attachments open ("sees the man that sleeps in the garden"), so nothing may
follow a clause that it could also belong to: an object with a relative clause ends its clause,
relative clauses hold no further clauses, and only main clauses carry subordinate ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from aiayn.corpora.languages.lexicon import (
    AFTER,
    ALTHOUGH,
    BECAUSE,
    BEFORE,
    COPULA,
    NOUNS,
    PREPOSITIONS,
    PRONOUNS,
    SAYING,
    TIMES,
    VERBS,
    WHEN,
    WHILE,
)
from aiayn.corpora.languages.syntax import (
    Adjective,
    Clause,
    Gap,
    Nominal,
    Noun,
    NounPhrase,
    Pair,
    Place,
    Pronoun,
    Sentence,
    Tense,
    Time,
    Verb,
)

T = TypeVar("T")

BY_KIND = {
    kind: tuple(noun for noun in NOUNS if noun.kind == kind)
    for kind in ("person", "animal", "thing", "place")
}
BEFORE_BY_KIND = {kind: tuple(a for a in BEFORE if kind in a.kinds) for kind in BY_KIND}
AFTER_BY_KIND = {kind: tuple(a for a in AFTER if kind in a.kinds) for kind in BY_KIND}
RELATIVE_VERBS = tuple(verb for verb in VERBS if verb.frame in ("alone", "direct", "dative"))
OBJECT_VERBS = tuple(verb for verb in VERBS if verb.frame in ("direct", "dative"))
OBJECT_VERBS_BY_KIND = {
    kind: tuple(verb for verb in OBJECT_VERBS if kind in verb.kinds)
    for kind in ("person", "animal", "thing")
}
PROPERTIES = tuple(adjective for adjective in AFTER if "person" in adjective.kinds)
TIMES_OF = {
    tense: tuple(time for time in TIMES if time.tense == tense)
    for tense in ("present", "past", "future")
}
DEFINITE = ("the", "the", "the", "this", "my", "his")
SINGULAR = (*DEFINITE, *DEFINITE, "a", "a", "a", "every")
TENSES: tuple[Tense, ...] = ("present",) * 4 + ("past",) * 3 + ("future", "can", "must", "want")
SIMPLE_TENSES: tuple[Tense, ...] = ("present", "present", "past")


class Deriver:
    """Draws sentences. Uses random() alone, whose sequence Python keeps from version to version."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def _chance(self, probability: float) -> bool:
        return self._random() < probability

    def _pick(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]

    def sentence(self) -> Sentence:
        """The next sentence."""
        shape = self._random()
        if shape < 0.40:
            return Sentence(self._main())
        if shape < 0.66:
            return Sentence(self._with_subordinate())
        if shape < 0.80:
            return Sentence(self._saying())
        return Sentence(self._main(short=True), self._pick(("and", "but")), self._main(short=True))

    def _main(self, *, short: bool = False) -> Clause:
        clause = self._clause(self._pick(TENSES), relatives=0.1 if short else 0.35)
        return self._with_time(clause, 0.25 if short else 0.5)

    def _with_time(self, clause: Clause, probability: float) -> Clause:
        """Perhaps say when, and perhaps put that, or the place, first."""
        tense = clause.tense if clause.tense in TIMES_OF else "present"
        time: Time | None = self._pick(TIMES_OF[tense]) if self._chance(probability) else None
        ends_open = isinstance(clause.object, NounPhrase) and clause.object.relative is not None
        if time is not None and (ends_open or self._chance(0.5)):
            return replace(clause, time=time, fronted="time")
        if clause.place is not None and self._chance(0.3):
            return replace(clause, time=time, fronted="place")
        return replace(clause, time=time)

    def _with_subordinate(self) -> Clause:
        conjunction = self._pick((BECAUSE, BECAUSE, WHEN, WHILE, ALTHOUGH))
        tense = self._pick(TENSES)
        if conjunction is BECAUSE:
            inner: Tense = "past" if tense == "past" else "present"
        else:
            # "quand" and "pendant que" want the imperfect beside a past, "bien que" a subjunctive
            past = conjunction is ALTHOUGH and tense == "past"
            inner = "past" if past else "present"
            tense = inner if tense in ("past", "future") else tense
        fronted = self._chance(0.4)
        subordinate = self._clause(inner, relatives=0.1, copula=inner == "present" or conjunction is BECAUSE)
        clause = self._clause(tense, relatives=0.1 if fronted else 0.0)
        return replace(
            clause,
            conjunction=conjunction,
            subordinate=subordinate,
            fronted="subordinate" if fronted else "",
        )

    def _saying(self) -> Clause:
        said = self._clause(self._pick(TENSES), relatives=0.1)
        return Clause(self._subject(("person",), 0.1), self._pick(SAYING), "present", saying=said)

    def _clause(self, tense: Tense, *, relatives: float, copula: bool = True) -> Clause:
        """A clause of which one noun phrase at most has a relative clause."""
        if copula and tense in ("present", "past", "future") and self._chance(0.12):
            verb = COPULA
        else:
            verb = self._pick(VERBS)
        negated = tense not in ("can", "must") and self._chance(0.2)
        in_subject = self._chance(relatives / 2)
        subject = self._subject(("person", "person", "animal"), float(in_subject), negated=negated)
        if verb.frame == "property":
            return Clause(subject, verb, tense, negated, property=self._pick(PROPERTIES))
        if verb.frame == "alone":
            return Clause(subject, verb, tense, negated, place=self._place(0.5))
        in_object = not in_subject and verb.frame != "recipient" and self._chance(relatives)
        thing = self._object(verb, float(in_object), negated=negated)
        if verb.frame == "recipient":
            recipient = self._noun_phrase("person", definite=negated)
            return Clause(subject, verb, tense, negated, thing, recipient)
        ends_open = isinstance(thing, NounPhrase) and thing.relative is not None
        place = None if ends_open or verb.frame == "with" else self._place(0.3)
        return Clause(subject, verb, tense, negated, thing, place=place)

    def _subject(
        self, kinds: Sequence[str], relative: float, *, negated: bool = False
    ) -> NounPhrase | Pair | Pronoun:
        if not relative and self._chance(0.3):
            return self._pick(PRONOUNS)
        if not relative and self._chance(0.1):
            return self._pair(kinds)
        phrase = self._noun_phrase(self._pick(kinds), definite=negated)
        return self._with_relative(phrase, relative)

    def _object(self, verb: Verb, relative: float, *, negated: bool) -> NounPhrase | Pair:
        if not relative and verb.frame in ("direct", "dative") and self._chance(0.12):
            return self._pair(verb.kinds, definite=negated)
        phrase = self._noun_phrase(self._pick(verb.kinds), definite=negated)
        return self._with_relative(phrase, relative)

    def _pair(self, kinds: Sequence[str], *, definite: bool = False) -> Pair:
        first = self._noun_phrase(self._pick(kinds), definite=definite, bare=False)
        second = self._noun_phrase(self._pick(kinds), definite=definite, bare=False)
        return Pair(first, second)

    def _noun_phrase(self, kind: str, *, definite: bool = False, bare: bool = True) -> NounPhrase:
        """Under negation every noun phrase is definite: "not a" and "not every" go their own ways."""
        noun = self._pick(BY_KIND[kind])
        plural = kind != "place" and self._chance(0.35)
        numeral = 2 + int(self._random() * 4) if plural and self._chance(0.25) else 0
        if not plural:
            determiner = self._pick(DEFINITE if definite else SINGULAR)
        elif definite or self._chance(0.7):
            determiner = self._pick(DEFINITE)
        elif numeral:
            determiner = ""
        else:
            determiner = self._pick(("many", "")) if bare else "many"
        before, after = self._adjectives(noun)
        return NounPhrase(determiner, numeral, before, after, noun, plural)

    def _adjectives(self, noun: Noun) -> tuple[Adjective | None, Adjective | None]:
        roll = self._random()
        before = self._pick(BEFORE_BY_KIND[noun.kind]) if roll < 0.25 else None
        after = self._pick(AFTER_BY_KIND[noun.kind]) if 0.2 < roll < 0.4 else None
        return before, after

    def _place(self, probability: float) -> Place | None:
        if not self._chance(probability):
            return None
        return Place(self._pick(PREPOSITIONS), self._noun_phrase("place", definite=True))

    def _with_relative(self, phrase: NounPhrase, probability: float) -> NounPhrase:
        if not self._chance(probability):
            return phrase
        gap = Gap(phrase.noun, phrase.plural)
        tense = self._pick(SIMPLE_TENSES)
        if phrase.noun.kind != "thing" and self._chance(0.6):
            verb = self._pick(RELATIVE_VERBS)
            thing = None if verb.frame == "alone" else self._object(verb, 0, negated=False)
            place = self._place(0.4 if thing is None else 0.1)
            relative = Clause(gap, verb, tense, object=thing, place=place)
        else:
            verb = self._pick(OBJECT_VERBS_BY_KIND[phrase.noun.kind])
            subject: Nominal = self._subject(("person", "person", "animal"), 0)
            relative = Clause(subject, verb, tense, object=gap)
        return replace(phrase, relative=relative)
