"""What the demo grammar's sentences are made of, before any language has been chosen.

A `Sentence` is an abstract derivation: who does what, when, where and why. Each language module
writes it out by its own rules of order and agreement, so the translations are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f", "n"]
Kind = Literal["person", "animal", "thing", "place"]
Case = Literal["nominative", "accusative", "dative"]
Tense = Literal["present", "past", "future", "can", "must", "want"]
Frame = Literal["alone", "direct", "dative", "with", "recipient", "property", "saying"]


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun and its forms; `german_oblique` is the accusative and dative singular.

    `owned` nouns may be somebody's; "my man" and "my station" would say something else, or nothing.
    """

    kind: Kind
    owned: bool
    english: str
    english_plural: str
    german: str
    german_oblique: str
    german_plural: str
    german_gender: Gender
    french: str
    french_plural: str
    french_feminine: bool


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective; French ones stand before or after their noun.

    `french` holds masculine and feminine singular, masculine and feminine plural, and last the
    masculine singular used before a vowel.
    """

    kinds: tuple[Kind, ...]
    english: str
    german: str
    german_stem: str
    french: tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, its forms and the frame it needs.

    Frames: alone; direct object; dative (German dative, French direct object); with (an object
    behind a preposition); recipient (object and recipient); property (the copula); saying (that).
    """

    frame: Frame
    agents: tuple[Kind, ...]
    objects: tuple[Kind, ...]
    english: tuple[str, str, str]
    """Base, third person singular, past."""
    german: tuple[str, str, str, str]
    """First and third person singular, infinitive (also the plural), participle."""
    german_prefix: str
    german_be: bool
    """The perfect is formed with sein."""
    french: tuple[str, str, str, str, str]
    """First and third person singular, third plural, infinitive, participle."""
    french_be: bool
    """The passé composé is formed with être, and the participle agrees with the subject."""
    french_subjunctive: tuple[str, str]
    """Singular and third person plural."""


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A subject pronoun."""

    first_person: bool
    plural: bool
    feminine: bool
    english: str
    german: str
    french: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The place inside a relative clause that the relative pronoun has left."""

    noun: Noun
    plural: bool


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with what belongs to it.

    `determiner` is one of the, a, this, my, his, every, many, or empty: none in English and
    German, the partitive in French. `numeral` is 0, or 2 to 5 in the plural. `before` and `after`
    are the adjectives that French puts before and after the noun.
    """

    determiner: str
    numeral: int
    before: Adjective | None
    after: Adjective | None
    noun: Noun
    plural: bool
    relative: Clause | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two noun phrases joined by "and"."""

    first: NounPhrase
    second: NounPhrase
    plural: bool = True


Nominal = NounPhrase | Pair | Pronoun | Gap


@dataclass(frozen=True, slots=True)
class Preposition:
    """A preposition of place (German: with the dative)."""

    english: str
    german: str
    french: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where something happens."""

    preposition: Preposition
    where: NounPhrase


@dataclass(frozen=True, slots=True)
class Time:
    """When something happens; `english_tree` is its bracketing."""

    tense: Tense
    english_tree: str
    german: str
    french: str


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A word that opens a subordinate clause."""

    english: str
    german: str
    french: str
    subjunctive: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, a verb and what the verb needs; `fronted` names the part that comes first."""

    subject: Nominal
    verb: Verb
    tense: Tense
    negated: bool = False
    object: Nominal | None = None
    recipient: NounPhrase | None = None
    property: Adjective | None = None
    saying: Clause | None = None
    place: Place | None = None
    time: Time | None = None
    fronted: Literal["", "time", "place", "subordinate"] = ""
    conjunction: Conjunction | None = None
    subordinate: Clause | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One main clause, or two joined by "and" or "but" (`joint`)."""

    first: Clause
    joint: Literal["", "and", "but"] = ""
    second: Clause | None = None
