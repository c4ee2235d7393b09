"""The abstract syntax of the demo grammar, independent of any language.

A `Sentence` is an abstract derivation: who does what, when, where and why. Each language module
realizes it by its own rules of word order and agreement, so translations are exact.
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

    `owned` nouns may have a possessive, unlike "my man" (another meaning) and "my station" (none).
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
    """An adjective; in French it precedes or follows the noun.

    `french` has masculine and feminine singular, masculine and feminine plural, and the masculine
    singular before a vowel.
    """

    kinds: tuple[Kind, ...]
    english: str
    german: str
    german_stem: str
    french: tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, its forms and the frame it needs.

    Frames: alone (no object); direct object; dative (German dative, French direct object); with
    (prepositional object); recipient (object and recipient); property (the copula); saying (that).
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
    """The position in a relative clause that the relative pronoun fills."""

    noun: Noun
    plural: bool


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with its determiner, numeral, adjectives and relative clause.

    `determiner` is one of the, a, this, my, his, every, many, or empty: none in English and
    German, the partitive in French. `numeral` is 0, or 2 to 5 in the plural. `before` and `after`
    are the adjectives before and after the noun in French.
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
    """A preposition of place; in German with the dative."""

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
    """When something happens; `english_tree` is the English bracketing."""

    tense: Tense
    english_tree: str
    german: str
    french: str


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A subordinating conjunction."""

    english: str
    german: str
    french: str
    subjunctive: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, a verb and its complements; `fronted` names the part that comes first."""

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
