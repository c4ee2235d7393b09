"""English: a tree in the style of the Penn Treebank, whose leaves are the sentence.

Trees have no functional tags or traces. The leaves, joined by spaces, equal the sentence except for
a space before each comma and full stop.
"""

from __future__ import annotations

import re

from aiayn.data.corpora.languages.syntax import (
    Clause,
    Conjunction,
    Gap,
    Nominal,
    NounPhrase,
    Pair,
    Place,
    Pronoun,
    Sentence,
)

NUMERALS = ("", "", "two", "three", "four", "five")
LEAF = re.compile(r" ([^ ()]+)\)")
TAGS = {"the": "DT", "a": "DT", "every": "DT", "my": "PRP$", "his": "PRP$", "many": "JJ"}
MODALS = {"future": "will", "can": "can", "must": "must"}


def tree(sentence: Sentence) -> str:
    """The sentence's bracketing on one line, its first word capitalised."""
    inner = _clause(sentence.first)
    if sentence.second is not None:
        inner = f"(S {inner}) (, ,) (CC {sentence.joint}) (S {_clause(sentence.second)})"
    written = f"(S {inner} (. .))"
    first = LEAF.search(written)
    assert first is not None
    start = first.start(1)
    return written[:start] + written[start].upper() + written[start + 1 :]


def text(bracketing: str) -> str:
    """The sentence under a tree."""
    return " ".join(LEAF.findall(bracketing)).replace(" ,", ",").replace(" .", ".")


def _clause(clause: Clause) -> str:
    """The parts of an S: the fronted part, the subject and the predicate."""
    front = ""
    if clause.fronted == "time" and clause.time is not None:
        front = f"{clause.time.english_tree} (, ,) "
    elif clause.fronted == "place" and clause.place is not None:
        front = f"{_place(clause.place)} (, ,) "
    elif clause.fronted == "subordinate":
        front = f"{_subordinate(clause)} (, ,) "
    if isinstance(clause.subject, Gap):
        return _verb_phrase(clause)
    return f"{front}{_nominal(clause.subject)} {_verb_phrase(clause)}"


def _subordinate(clause: Clause) -> str:
    assert clause.subordinate is not None
    assert clause.conjunction is not None
    return f"(SBAR {_opening(clause.conjunction)} (S {_clause(clause.subordinate)}))"


def _opening(conjunction: Conjunction) -> str:
    if conjunction.english == "when":
        return "(WHADVP (WRB when))"
    return f"(IN {conjunction.english})"


def _verb_phrase(clause: Clause) -> str:
    """The finite verb and its complements; auxiliaries nest verb phrases, as in the Treebank."""
    base, third, past = clause.verb.english
    subject = clause.subject
    bare = subject.plural or (isinstance(subject, Pronoun) and subject.first_person)
    complements = _complements(clause)
    present_tag = "VBP" if bare else "VBZ"
    infinitive = f"(VP (VB {base}){complements})"
    if clause.tense in MODALS:
        negation = " (RB not)" if clause.negated else ""
        return f"(VP (MD {MODALS[clause.tense]}){negation} {infinitive})"
    if clause.verb.frame == "property":
        negation = " (RB not)" if clause.negated else ""
        return f"(VP {_be(clause)}{negation}{complements})"
    wanting = f"(S (VP (TO to) {infinitive}))"
    if clause.negated:
        auxiliary = (
            "(VBD did)" if clause.tense == "past" else f"({present_tag} {'do' if bare else 'does'})"
        )
        lower = f"(VP (VB want) {wanting})" if clause.tense == "want" else infinitive
        return f"(VP {auxiliary} (RB not) {lower})"
    if clause.tense == "want":
        return f"(VP ({present_tag} {'want' if bare else 'wants'}) {wanting})"
    if clause.tense == "past":
        return f"(VP (VBD {past}){complements})"
    return f"(VP ({present_tag} {base if bare else third}){complements})"


def _be(clause: Clause) -> str:
    subject = clause.subject
    if clause.tense == "past":
        return "(VBD were)" if subject.plural else "(VBD was)"
    if subject.plural:
        return "(VBP are)"
    return "(VBP am)" if isinstance(subject, Pronoun) and subject.first_person else "(VBZ is)"


def _complements(clause: Clause) -> str:
    """The parts after the verb, each preceded by a space."""
    parts = []
    if clause.object is not None and not isinstance(clause.object, Gap):
        phrase = _nominal(clause.object)
        parts.append(_to_phrase(phrase) if clause.verb.frame == "with" else phrase)
    if clause.recipient is not None:
        parts.append(_to_phrase(_nominal(clause.recipient)))
    if clause.property is not None:
        parts.append(f"(ADJP (JJ {clause.property.english}))")
    if clause.place is not None and clause.fronted != "place":
        parts.append(_place(clause.place))
    if clause.time is not None and clause.fronted != "time":
        parts.append(clause.time.english_tree)
    if clause.saying is not None:
        parts.append(f"(SBAR (IN that) (S {_clause(clause.saying)}))")
    if clause.subordinate is not None and clause.fronted != "subordinate":
        parts.append(_subordinate(clause))
    return "".join(f" {part}" for part in parts)


def _to_phrase(phrase: str) -> str:
    return f"(PP (TO to) {phrase})"


def _place(place: Place) -> str:
    phrase = _nominal(place.where)
    if place.preposition.english == "next to":
        return f"(ADVP (RB next) {_to_phrase(phrase)})"
    return f"(PP (IN {place.preposition.english}) {phrase})"


def _nominal(nominal: Nominal) -> str:
    if isinstance(nominal, Pronoun):
        return f"(NP (PRP {nominal.english}))"
    if isinstance(nominal, Pair):
        return f"(NP {_noun_phrase(nominal.first)} (CC and) {_noun_phrase(nominal.second)})"
    assert isinstance(nominal, NounPhrase)
    phrase = _noun_phrase(nominal)
    if nominal.relative is None:
        return phrase
    return f"(NP {phrase} {_relative(nominal.relative, nominal.noun.kind)})"


def _noun_phrase(phrase: NounPhrase) -> str:
    words = []
    if phrase.numeral:
        words.append(f"(CD {NUMERALS[phrase.numeral]})")
    words += [
        f"(JJ {adjective.english})" for adjective in (phrase.before, phrase.after) if adjective
    ]
    noun = phrase.noun
    words.append(f"(NNS {noun.english_plural})" if phrase.plural else f"(NN {noun.english})")
    determiner = phrase.determiner
    if determiner == "this":
        words.insert(0, "(DT these)" if phrase.plural else "(DT this)")
    elif determiner == "a":
        following = LEAF.findall(words[0])[0]
        words.insert(0, "(DT an)" if following[0] in "aeiou" else "(DT a)")
    elif determiner:
        words.insert(0, f"({TAGS[determiner]} {determiner})")
    return f"(NP {' '.join(words)})"


def _relative(clause: Clause, kind: str) -> str:
    who = isinstance(clause.subject, Gap) and kind == "person"
    pronoun = "(WP who)" if who else "(WDT that)"
    return f"(SBAR (WHNP {pronoun}) (S {_clause(clause)}))"
