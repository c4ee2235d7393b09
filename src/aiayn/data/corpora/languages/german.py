"""German: three cases and genders; the verb is second or, in dependent clauses, last."""

from __future__ import annotations

from aiayn.data.corpora.languages.syntax import (
    Adjective,
    Case,
    Clause,
    Gap,
    Nominal,
    Noun,
    NounPhrase,
    Pair,
    Place,
    Pronoun,
    Sentence,
)

NUMERALS = ("", "", "zwei", "drei", "vier", "fünf")
JOINTS = {"and": (",", "und"), "but": (",", "aber")}
CASES: dict[Case, int] = {"nominative": 0, "accusative": 1, "dative": 2}
DEFINITE = {
    "m": ("der", "den", "dem"),
    "f": ("die", "die", "der"),
    "n": ("das", "das", "dem"),
    "plural": ("die", "die", "den"),
}
# relative pronouns differ from the article only in the dative plural
RELATIVE = {**DEFINITE, "plural": ("die", "die", "denen")}
STRONG = {
    "m": ("er", "en", "em"),
    "f": ("e", "e", "er"),
    "n": ("es", "es", "em"),
    "plural": ("e", "e", "en"),
}
WEAK = {
    "m": ("e", "en", "en"),
    "f": ("e", "e", "en"),
    "n": ("e", "e", "en"),
    "plural": ("en", "en", "en"),
}
# after ein, mein, sein: strong if these have no ending themselves, else weak
MIXED = {**WEAK, "m": ("er", "en", "en"), "n": ("es", "es", "en")}
INDEFINITE = {**STRONG, "m": ("", "en", "em"), "n": ("", "", "em")}
STEMS = {"this": "dies", "every": "jed", "many": "viel", "a": "ein", "my": "mein", "his": "sein"}
# singular of the first and third person, plural
HAVE = ("habe", "hat", "haben")
BE = ("bin", "ist", "sind")
WAS = ("war", "war", "waren")
MODALS = {
    "future": ("werde", "wird", "werden"),
    "can": ("kann", "kann", "können"),
    "must": ("muss", "muss", "müssen"),
    "want": ("will", "will", "wollen"),
}


def text(sentence: Sentence) -> str:
    """The sentence in German."""
    words = _main(sentence.first)
    if sentence.second is not None:
        words += [*JOINTS[sentence.joint], *_main(sentence.second)]
    return _punctuated(words)


def _punctuated(words: list[str]) -> str:
    """Join words; a dependent clause has a comma at either end, adjacent clauses share one."""
    kept: list[str] = []
    for word in words:
        if word != ",":
            kept.append(word)
        elif not kept[-1].endswith(","):
            kept[-1] += ","
    line = " ".join(kept).removesuffix(",") + "."
    return line[0].upper() + line[1:]


def _main(clause: Clause) -> list[str]:
    """A main clause: one part of it first, then the finite verb."""
    finite, prefix, closing = _verb(clause)
    subject = _nominal(clause.subject, "nominative")
    if clause.fronted == "time" and clause.time is not None:
        opening = [clause.time.german, finite, *subject]
    elif clause.fronted == "place" and clause.place is not None:
        opening = [*_place(clause.place), finite, *subject]
    elif clause.fronted == "subordinate":
        opening = [*_subordinate(clause)[1:], finite, *subject]
    else:
        opening = [*subject, finite]
    words = [*opening, *_middle(clause), *closing]
    if prefix:
        words.append(prefix)
    return words + _trailing(clause)


def _dependent(clause: Clause) -> list[str]:
    """A dependent clause after its opening word: the finite verb is last."""
    finite, prefix, closing = _verb(clause)
    words = [*_nominal(clause.subject, "nominative"), *_middle(clause), *closing, prefix + finite]
    return words + _trailing(clause)


def _subordinate(clause: Clause) -> list[str]:
    assert clause.subordinate is not None
    assert clause.conjunction is not None
    return [",", clause.conjunction.german, *_dependent(clause.subordinate), ","]


def _verb(clause: Clause) -> tuple[str, str, list[str]]:
    """The finite verb, its separated prefix, and the verb forms at the end of the clause."""
    verb, subject, tense = clause.verb, clause.subject, clause.tense
    if subject.plural:
        person = 2
    else:
        person = 0 if isinstance(subject, Pronoun) and subject.first_person else 1
    if verb.frame == "property" and tense in ("present", "past"):
        return (BE if tense == "present" else WAS)[person], "", []
    if tense == "present":
        return verb.german[person], verb.german_prefix, []
    if tense == "past":
        return (BE if verb.german_be else HAVE)[person], "", [verb.german[3]]
    return MODALS[tense][person], "", [verb.german_prefix + verb.german[2]]


def _middle(clause: Clause) -> list[str]:
    """The middle field: time, objects, negation, place, property."""
    words: list[str] = []
    frame, thing = clause.verb.frame, clause.object
    if clause.time is not None and clause.fronted != "time":
        words.append(clause.time.german)
    if clause.recipient is not None:
        words += _nominal(clause.recipient, "dative")
    if thing is not None and frame != "with":
        words += _nominal(thing, "dative" if frame == "dative" else "accusative")
    if clause.negated:
        words.append("nicht")
    if thing is not None and frame == "with":
        words += ["mit", *_nominal(thing, "dative")]
    if clause.place is not None and clause.fronted != "place":
        words += _place(clause.place)
    if clause.property is not None:
        words.append(clause.property.german)
    return words


def _trailing(clause: Clause) -> list[str]:
    """Clauses after the verb, including an object's relative clause."""
    words: list[str] = []
    if isinstance(clause.object, NounPhrase) and clause.object.relative is not None:
        words += _relative(clause.object)
    if clause.saying is not None:
        words += [",", "dass", *_dependent(clause.saying), ","]
    if clause.subordinate is not None and clause.fronted != "subordinate":
        words += _subordinate(clause)
    return words


def _relative(phrase: NounPhrase) -> list[str]:
    """A relative clause; its pronoun has the noun's gender and number, and its own case."""
    clause = phrase.relative
    assert clause is not None
    case: Case = "accusative"
    if isinstance(clause.subject, Gap):
        case = "nominative"
    elif clause.verb.frame == "dative":
        case = "dative"
    pronoun = RELATIVE[_row(phrase.noun, phrase.plural)][CASES[case]]
    return [",", pronoun, *_dependent(clause), ","]


def _place(place: Place) -> list[str]:
    words = [place.preposition.german, *_nominal(place.where, "dative")]
    return ["im", *words[2:]] if words[:2] == ["in", "dem"] else words


def _nominal(nominal: Nominal, case: Case) -> list[str]:
    """A nominal. A subject's relative clause follows it directly; an object's is in `_trailing`."""
    if isinstance(nominal, Gap):
        return []
    if isinstance(nominal, Pronoun):
        return [nominal.german]
    if isinstance(nominal, Pair):
        return [*_noun_phrase(nominal.first, case), "und", *_noun_phrase(nominal.second, case)]
    words = _noun_phrase(nominal, case)
    if case == "nominative" and nominal.relative is not None:
        words += _relative(nominal)
    return words


def _noun_phrase(phrase: NounPhrase, case: Case) -> list[str]:
    column, row = CASES[case], _row(phrase.noun, phrase.plural)
    determiner = phrase.determiner
    words = []
    if determiner == "the":
        words.append(DEFINITE[row][column])
        endings = WEAK
    elif determiner in ("this", "every"):
        words.append(STEMS[determiner] + STRONG[row][column])
        endings = WEAK
    elif determiner in ("a", "my", "his"):
        words.append(STEMS[determiner] + INDEFINITE[row][column])
        endings = MIXED
    else:
        if determiner:
            words.append(STEMS[determiner] + STRONG[row][column])
        endings = STRONG
    if phrase.numeral:
        words.append(NUMERALS[phrase.numeral])
    ending = endings[row][column]
    words += [
        _inflected(adjective, ending) for adjective in (phrase.before, phrase.after) if adjective
    ]
    words.append(_noun(phrase.noun, case, phrase.plural))
    return words


def _inflected(adjective: Adjective, ending: str) -> str:
    return adjective.german_stem + ending


def _row(noun: Noun, plural: bool) -> str:
    return "plural" if plural else noun.german_gender


def _noun(noun: Noun, case: Case, plural: bool) -> str:
    if not plural:
        return noun.german if case == "nominative" else noun.german_oblique
    if case == "dative" and not noun.german_plural.endswith(("n", "s")):
        return noun.german_plural + "n"
    return noun.german_plural
