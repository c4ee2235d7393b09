"""French: agreement in gender and number, elision, contraction, and negation around the verb."""

from __future__ import annotations

from aiayn.data.corpora.languages.syntax import (
    Adjective,
    Clause,
    Gap,
    Nominal,
    NounPhrase,
    Pair,
    Place,
    Pronoun,
    Sentence,
)

NUMERALS = ("", "", "deux", "trois", "quatre", "cinq")
JOINTS = {"and": (",", "et"), "but": (",", "mais")}
# includes h, because every h in this lexicon is mute
VOWELS = "aeiouhâàéèêîôœ"
ELIDED = {"le": "l'", "la": "l'", "de": "d'", "que": "qu'", "ne": "n'", "je": "j'"}
CONTRACTED = {
    ("à", "le"): "au",
    ("à", "les"): "aux",
    ("de", "le"): "du",
    ("de", "les"): "des",
}
# masculine, masculine before a vowel, feminine, feminine before a vowel, plural
DETERMINERS = {
    "the": ("le", "le", "la", "la", "les"),
    "a": ("un", "un", "une", "une", ""),
    "this": ("ce", "cet", "cette", "cette", "ces"),
    "my": ("mon", "mon", "ma", "mon", "mes"),
    "his": ("son", "son", "sa", "son", "ses"),
    "every": ("chaque", "chaque", "chaque", "chaque", ""),
}
# first and third person singular, third person plural
HAVE = ("ai", "a", "ont")
BE = ("suis", "est", "sont")
WAS = ("étais", "était", "étaient")
HAVE_SUBJUNCTIVE = ("aie", "ait", "aient")
BE_SUBJUNCTIVE = ("sois", "soit", "soient")
MODALS = {
    "future": ("vais", "va", "vont"),
    "can": ("peux", "peut", "peuvent"),
    "must": ("dois", "doit", "doivent"),
    "want": ("veux", "veut", "veulent"),
}


def text(sentence: Sentence) -> str:
    """The sentence in French."""
    words = _clause(sentence.first)
    if sentence.second is not None:
        words += [*JOINTS[sentence.joint], *_clause(sentence.second)]
    line = _joined(words) + "."
    return line[0].upper() + line[1:]


def subject(sentence: Sentence) -> str:
    """The pronoun for the subject of the first main clause: je, il, elle, ils or elles."""
    who = sentence.first.subject
    if isinstance(who, Pronoun):
        return who.french
    return ("il", "elle", "ils", "elles")[2 * who.plural + _feminine(who)]


def _joined(words: list[str]) -> str:
    """Join words, contracting prepositions with articles and eliding before a vowel."""
    line = ""
    position = 0
    while position < len(words):
        word = words[position]
        if word == ",":
            line = line.rstrip(" ") + ", "
            position += 1
            continue
        after = words[position + 1] if position + 1 < len(words) else ""
        if (word, after) in CONTRACTED:
            masculine = after == "le"
            if not (masculine and words[position + 2][0] in VOWELS):
                word = CONTRACTED[word, after]
                position += 1
        elif word in ELIDED and after and after[0] in VOWELS:
            line += ELIDED[word]
            position += 1
            continue
        line += word + " "
        position += 1
    return line.rstrip(" ")


def _clause(clause: Clause, *, subjunctive: bool = False) -> list[str]:
    """Subject, verb, objects, place, time, in this order, unless one is fronted."""
    words: list[str] = []
    if clause.fronted == "time" and clause.time is not None:
        words += [clause.time.french, ","]
    elif clause.fronted == "place" and clause.place is not None:
        words += [*_place(clause.place), ","]
    elif clause.fronted == "subordinate":
        words += [*_subordinate(clause), ","]
    words += [*_nominal(clause.subject), *_verb(clause, subjunctive)]
    if clause.object is not None:
        words += (
            ["à"] if clause.verb.frame == "with" and isinstance(clause.object, NounPhrase) else []
        )
        words += _nominal(clause.object)
    if clause.recipient is not None:
        words += ["à", *_nominal(clause.recipient)]
    if clause.property is not None:
        words.append(_agreeing(clause.property, clause.subject))
    if clause.place is not None and clause.fronted != "place":
        words += _place(clause.place)
    if clause.time is not None and clause.fronted != "time":
        words.append(clause.time.french)
    if clause.saying is not None:
        words += ["que", *_clause(clause.saying)]
    if clause.subordinate is not None and clause.fronted != "subordinate":
        words += _subordinate(clause)
    return words


def _subordinate(clause: Clause) -> list[str]:
    assert clause.subordinate is not None
    assert clause.conjunction is not None
    opening = clause.conjunction.french.split()
    return [*opening, *_clause(clause.subordinate, subjunctive=clause.conjunction.subjunctive)]


def _verb(clause: Clause, subjunctive: bool) -> list[str]:
    """The verb, with ne and pas around its finite part."""
    finite, rest = _forms(clause, subjunctive)
    return ["ne", finite, "pas", *rest] if clause.negated else [finite, *rest]


def _forms(clause: Clause, subjunctive: bool) -> tuple[str, list[str]]:
    verb, subject, tense = clause.verb, clause.subject, clause.tense
    if subject.plural:
        person = 2
    else:
        person = 0 if isinstance(subject, Pronoun) and subject.first_person else 1
    if tense == "present":
        if subjunctive:
            return verb.french_subjunctive[person // 2], []
        return verb.french[person], []
    if tense != "past":
        return MODALS[tense][person], [verb.french[3]]
    if verb.frame == "property":
        return WAS[person], []
    if verb.french_be:
        finite = (BE_SUBJUNCTIVE if subjunctive else BE)[person]
        return finite, [_participle(verb.french[4], subject)]
    finite = (HAVE_SUBJUNCTIVE if subjunctive else HAVE)[person]
    # with avoir, the participle agrees with a preceding direct object
    gap = clause.object if isinstance(clause.object, Gap) else None
    return finite, [_participle(verb.french[4], gap) if gap else verb.french[4]]


def _participle(masculine: str, agrees_with: Nominal) -> str:
    feminine = "e" if _feminine(agrees_with) else ""
    return masculine + feminine + ("s" if agrees_with.plural else "")


def _agreeing(adjective: Adjective, nominal: Nominal) -> str:
    return adjective.french[2 * nominal.plural + _feminine(nominal)]


def _feminine(nominal: Nominal) -> bool:
    """Whether a nominal is feminine: a pair only if both nouns are."""
    if isinstance(nominal, Pronoun):
        return nominal.feminine
    if isinstance(nominal, Pair):
        return nominal.first.noun.french_feminine and nominal.second.noun.french_feminine
    return nominal.noun.french_feminine


def _place(place: Place) -> list[str]:
    return [*place.preposition.french.split(), *_nominal(place.where)]


def _nominal(nominal: Nominal) -> list[str]:
    if isinstance(nominal, Gap):
        return []
    if isinstance(nominal, Pronoun):
        return [nominal.french]
    if isinstance(nominal, Pair):
        return [*_noun_phrase(nominal.first), "et", *_noun_phrase(nominal.second)]
    words = _noun_phrase(nominal)
    if nominal.relative is not None:
        pronoun = "qui" if isinstance(nominal.relative.subject, Gap) else "que"
        words += [pronoun, *_clause(nominal.relative)]
    return words


def _noun_phrase(phrase: NounPhrase) -> list[str]:
    noun, plural = phrase.noun, phrase.plural
    words = [noun.french_plural if plural else noun.french]
    if phrase.before is not None:
        masculine_before_vowel = not plural and not noun.french_feminine and words[0][0] in VOWELS
        forms = phrase.before.french
        form = forms[4] if masculine_before_vowel else forms[2 * plural + noun.french_feminine]
        words.insert(0, form)
    if phrase.after is not None:
        words.append(phrase.after.french[2 * plural + noun.french_feminine])
    if phrase.numeral:
        words.insert(0, NUMERALS[phrase.numeral])
    return [*_determiner(phrase, words[0]), *words]


def _determiner(phrase: NounPhrase, following: str) -> list[str]:
    """The determiner of a noun phrase, given the word that follows."""
    if phrase.determiner == "many":
        return ["beaucoup", "de"]
    if not phrase.determiner:
        if phrase.numeral:
            return []
        # the partitive article is plain "de" before an adjective
        return ["de"] if phrase.before is not None else ["des"]
    forms = DETERMINERS[phrase.determiner]
    if phrase.plural:
        return [forms[4]]
    return [forms[2 * phrase.noun.french_feminine + (following[0] in VOWELS)]]
