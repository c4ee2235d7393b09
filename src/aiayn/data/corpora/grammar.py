"""The demo corpus: sentences of the project's own grammar, in three languages and as trees.

One derivation gives English, German, French and the English parse tree, so the translations are
exact and each is a function of the English sentence. So is the label: the French pronoun for the
subject of the main clause, which depends on the order of the English words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from aiayn.config import Grammar
from aiayn.data.corpora.languages import english, french, german
from aiayn.data.corpora.languages.derivation import Deriver
from aiayn.data.corpora.languages.syntax import Sentence
from aiayn.errors import ConfigError

WRITERS: dict[str, Callable[[Sentence], str]] = {
    "en": lambda sentence: english.text(english.tree(sentence)),
    "de": german.text,
    "fr": french.text,
    "tree": english.tree,
    "label": french.subject,
}


def sentences(grammar: Grammar, languages: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield `grammar.sentences` different sentences, each in all of `languages`.

    The same grammar gives the same sentences on every machine. Splits share no sentence in any
    language, whatever their seeds and sizes.

    Raises:
        ConfigError: a language is not one of en, de, fr, tree and label.
    """
    for language in languages:
        if language not in WRITERS:
            raise ConfigError(
                f"the grammar has no language {language!r}; it has {', '.join(WRITERS)}."
            )
    return _distinct(grammar, [WRITERS[language] for language in languages])


def _distinct(
    grammar: Grammar, writers: list[Callable[[Sentence], str]]
) -> Iterator[tuple[str, ...]]:
    deriver = Deriver(grammar.seed)
    seen: set[bytes] = set()
    while len(seen) < grammar.sentences:
        sentence = deriver.sentence()
        # distinct by their German: different English sentences may share it ("die Frau, die die
        # Katze sieht": who sees whom?) and must be in the same split. French merges none.
        digest = hashlib.sha256(german.text(sentence).encode()).digest()
        if digest not in seen and _split(digest) == grammar.split:
            seen.add(digest)
            yield tuple(writer(sentence) for writer in writers)


def _split(digest: bytes) -> str:
    """A sentence's split, from its digest: 1/16 is dev, 1/16 test."""
    return {0: "dev", 1: "test"}.get(digest[0] % 16, "train")
