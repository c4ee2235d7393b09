"""Random abstract sentences, with restrictions that make every translation unique.

English has attachment ambiguities ("sees the man that sleeps in the garden"), so nothing may follow
a clause that it could also belong to: an object with a relative clause ends its clause, relative
clauses contain no further clauses, and only main clauses have subordinate ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeVar, get_args

from aiayn.data.corpora.languages.lexicon import (
    AFTER,
    ALTHOUGH,
    BECAUSE,
    BEFORE,
    COPULA,
    EVERY_DAY,
    NOUNS,
    PREPOSITIONS,
    PRONOUNS,
    SAYING,
    THEY,
    TIMES,
    VERBS,
    WHEN,
    WHILE,
)
from aiayn.data.corpora.languages.syntax import (
    Clause,
    Gap,
    Kind,
    NounPhrase,
    Pair,
    Place,
    Pronoun,
    Sentence,
    Tense,
    Verb,
)

T = TypeVar("T")

KINDS = get_args(Kind)
BY_KIND = {kind: tuple(noun for noun in NOUNS if noun.kind == kind) for kind in KINDS}
BEFORE_BY_KIND = {kind: tuple(word for word in BEFORE if kind in word.kinds) for kind in KINDS}
AFTER_BY_KIND = {kind: tuple(word for word in AFTER if kind in word.kinds) for kind in KINDS}
PROPERTIES = AFTER_BY_KIND["person"]
# verbs of a relative clause, by the kind of noun that it modifies
AS_AGENT = {
    kind: tuple(
        verb
        for verb in VERBS
        if kind in verb.agents and verb.frame in ("alone", "direct", "dative")
    )
    for kind in KINDS
}
AS_OBJECT = {
    kind: tuple(
        verb for verb in VERBS if kind in verb.objects and verb.frame in ("direct", "dative")
    )
    for kind in KINDS
}
TIMES_OF = {
    tense: tuple(time for time in TIMES if time.tense == tense)
    for tense in ("present", "past", "future")
}
DEFINITE = ("the", "the", "the", "this")
OWNED = (*DEFINITE, "my", "my", "his")
# "they" could be "ils" or "elles" depending on an antecedent, so it is used only without one
INNER = PRONOUNS
OUTER = (*PRONOUNS, THEY)
TENSES: tuple[Tense, ...] = ("present",) * 4 + ("past",) * 3 + ("future", "can", "must", "want")
SIMPLE_TENSES: tuple[Tense, ...] = ("present", "present", "past")


class Deriver:
    """Draws sentences. Uses only random(), whose sequence is the same in all versions of Python."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def _chance(self, probability: float) -> bool:
        return self._random() < probability

    def _pick(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]

    def sentence(self) -> Sentence:
        """The next sentence."""
        shape = self._random()
        if shape < 0.46:
            return Sentence(self._main())
        if shape < 0.70:
            return Sentence(self._with_subordinate())
        if shape < 0.82:
            return Sentence(self._saying())
        joint: Literal["and", "but"] = "and" if self._chance(0.5) else "but"
        return Sentence(self._main(short=True), joint, self._main(short=True, second=True))

    def _main(self, *, second: bool = False, short: bool = False) -> Clause:
        clause = self._clause(
            self._pick(TENSES),
            relatives=0.08 if short else 0.3,
            pronouns=INNER if second else OUTER,
        )
        return self._with_time(clause, 0.2 if short else 0.45)

    def _with_time(self, clause: Clause, probability: float) -> Clause:
        """Optionally add a time, and optionally front the time or the place."""
        tense = clause.tense if clause.tense in TIMES_OF else "present"
        # "not every day" differs in meaning from "every day not"
        times = [time for time in TIMES_OF[tense] if not (clause.negated and time is EVERY_DAY)]
        time = self._pick(times) if self._chance(probability) else None
        closed = isinstance(clause.object, NounPhrase) and clause.object.relative is not None
        if time is not None and (closed or self._chance(0.5)):
            return replace(clause, time=time, fronted="time")
        if clause.place is not None and self._chance(0.3):
            return replace(clause, time=time, fronted="place")
        return replace(clause, time=time)

    def _with_subordinate(self) -> Clause:
        conjunction = self._pick((BECAUSE, BECAUSE, WHEN, WHILE, ALTHOUGH))
        tense = self._pick(TENSES)
        # in the past, "quand" and "pendant que" need the imperfect, which the grammar lacks; with a
        # future main clause, "quand" needs a future
        if conjunction in (WHEN, WHILE) and tense in ("past", "future"):
            tense = "present"
        inner: Tense = "past" if tense == "past" else "present"
        subordinate = self._clause(
            inner,
            relatives=0.08,
            pronouns=INNER,
            # "was" is an imperfect in French, whose subjunctive is obsolete
            copula=inner == "present" or not conjunction.subjunctive,
        )
        fronted = self._chance(0.4)
        main = self._clause(
            tense, relatives=0.08 if fronted else 0.0, pronouns=INNER if fronted else OUTER
        )
        return replace(
            main,
            conjunction=conjunction,
            subordinate=subordinate,
            fronted="subordinate" if fronted else "",
        )

    def _saying(self) -> Clause:
        verb = self._pick(SAYING)
        embedded = self._clause(self._pick(TENSES), relatives=0.08, pronouns=INNER)
        return Clause(self._subject(verb, OUTER), verb, "present", saying=embedded)

    def _clause(
        self, tense: Tense, *, relatives: float, pronouns: Sequence[Pronoun], copula: bool = True
    ) -> Clause:
        """A clause with a relative clause in at most one noun phrase."""
        can_be = copula and tense in ("present", "past", "future")
        verb = COPULA if can_be and self._chance(0.15) else self._pick(VERBS)
        negated = tense not in ("can", "must") and self._chance(0.2)
        roll = self._random()
        in_subject, in_object = roll < relatives / 3, roll > 1 - 2 * relatives / 3
        subject = self._subject(verb, pronouns, relative=in_subject, definite=negated)
        if verb.frame == "property":
            return Clause(subject, verb, tense, negated, property=self._pick(PROPERTIES))
        if verb.frame == "alone":
            return Clause(subject, verb, tense, negated, place=self._place(0.5))
        if verb.frame == "recipient":
            thing = self._noun_phrase(self._pick(verb.objects), definite=negated)
            recipient = self._noun_phrase("person", definite=negated)
            return Clause(subject, verb, tense, negated, thing, recipient)
        phrase = self._object(verb, relative=in_object, definite=negated)
        closed = isinstance(phrase, Pair) or phrase.relative is not None or verb.frame == "with"
        place = None if closed else self._place(0.3)
        return Clause(subject, verb, tense, negated, phrase, place=place)

    def _subject(
        self,
        verb: Verb,
        pronouns: Sequence[Pronoun],
        *,
        relative: bool = False,
        definite: bool = False,
    ) -> NounPhrase | Pair | Pronoun:
        if relative:
            return self._related(self._agent(verb), definite=definite)
        roll = self._random()
        if roll < 0.3:
            return self._pick(pronouns)
        if roll < 0.38:
            return self._pair(self._agent(verb), self._agent(verb), definite=definite)
        return self._noun_phrase(self._agent(verb), definite=definite)

    def _agent(self, verb: Verb) -> Kind:
        return "animal" if "animal" in verb.agents and self._chance(0.4) else "person"

    def _object(self, verb: Verb, *, relative: bool, definite: bool) -> NounPhrase | Pair:
        kind = self._pick(verb.objects)
        if relative:
            return self._related(kind, definite=definite)
        if verb.frame != "with" and self._chance(0.12):
            return self._pair(kind, self._pick(verb.objects), definite=definite)
        return self._noun_phrase(kind, definite=definite)

    def _pair(self, first: Kind, second: Kind, *, definite: bool) -> Pair:
        one = other = self._noun_phrase(first, definite=definite, bare=False)
        while other.noun is one.noun:
            other = self._noun_phrase(second, definite=definite, bare=False)
        return Pair(one, other)

    def _noun_phrase(
        self, kind: Kind, *, definite: bool = False, bare: bool = True, owned: bool = True
    ) -> NounPhrase:
        """Phrases in the scope of negation must be `definite`, because "not a" and "every ... not"
        are translated irregularly. Phrases in pairs must not be `bare`, because "small dogs and
        cats" is ambiguous.
        """
        noun = self._pick(BY_KIND[kind])
        plural = kind != "place" and self._chance(0.35)
        numeral = 2 + int(self._random() * 4) if plural and self._chance(0.25) else 0
        if definite or self._chance(0.7):
            determiner = self._pick(OWNED if owned and noun.owned else DEFINITE)
        elif not plural:
            determiner = self._pick(("a", "a", "every"))
        elif numeral:
            determiner = ""
        else:
            determiner = self._pick(("many", "")) if bare else "many"
        roll = self._random()
        before = self._pick(BEFORE_BY_KIND[kind]) if roll < 0.22 else None
        after = self._pick(AFTER_BY_KIND[kind]) if 0.2 < roll < 0.37 else None
        return NounPhrase(determiner, numeral, before, after, noun, plural)

    def _place(self, probability: float) -> Place | None:
        if not self._chance(probability):
            return None
        return Place(self._pick(PREPOSITIONS), self._noun_phrase("place", definite=True))

    def _related(self, kind: Kind, *, definite: bool) -> NounPhrase:
        """A noun phrase with a relative clause, whose subject or object it is. It has no
        possessive: "my dog that sleeps" would be odd.
        """
        phrase = self._noun_phrase(kind, definite=definite, owned=False)
        gap = Gap(phrase.noun, phrase.plural)
        tense = self._pick(SIMPLE_TENSES)
        agent_of = AS_AGENT[kind]
        if agent_of and self._chance(0.6):
            verb = self._pick(agent_of)
            if verb.frame == "alone":
                relative = Clause(gap, verb, tense, place=self._place(0.5))
            else:
                thing = self._object(verb, relative=False, definite=False)
                relative = Clause(gap, verb, tense, object=thing)
        else:
            verb = self._pick(AS_OBJECT[kind])
            relative = Clause(self._subject(verb, INNER), verb, tense, object=gap)
        return replace(phrase, relative=relative)
