"""Words and phrases of the demo's grammar, looked up by their English, to build sentences from."""

from __future__ import annotations

from aiayn.data.corpora.languages import lexicon
from aiayn.data.corpora.languages.syntax import Adjective, Clause, Noun, NounPhrase, Verb


def noun(english_singular: str) -> Noun:
    return next(noun for noun in lexicon.NOUNS if noun.english == english_singular)


def verb(base: str) -> Verb:
    return next(v for v in (*lexicon.VERBS, *lexicon.SAYING) if v.english[0] == base)


def adjective(word: str) -> Adjective:
    return next(a for a in (*lexicon.BEFORE, *lexicon.AFTER) if a.english == word)


def phrase(words: str, *, plural: bool = False, relative: Clause | None = None) -> NounPhrase:
    """A noun phrase from "determiner adjective* noun"; "-" is no determiner."""
    determiner, *adjectives, head = words.split()
    found = [adjective(word) for word in adjectives]
    before = next((a for a in found if a in lexicon.BEFORE), None)
    after = next((a for a in found if a in lexicon.AFTER), None)
    determiner = determiner.replace("-", "")
    return NounPhrase(determiner, 0, before, after, noun(head), plural, relative)
