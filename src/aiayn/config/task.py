"""A task: its text, its vocabulary, and how an output is searched for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from aiayn.config.corpora import Catalogue
from aiayn.config.rules import known, named, positive, require


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """Rules by which training pairs are dropped, in this order; null or false switches one off.

    field | drops a pair
    --- | ---
    invalid_utf8 | with bytes that are not UTF-8
    empty | with an empty side
    max_words | with more words on a side
    max_ratio | with sides whose numbers of words differ by more than this factor
    identical | with equal sides
    duplicates | that came before
    """

    invalid_utf8: bool
    empty: bool
    max_words: int | None
    max_ratio: float | None
    identical: bool
    duplicates: bool


@dataclass(frozen=True, kw_only=True)
class Text:
    """Which corpora make a task.

    `source` and `target` are languages (or `tree`); `train`, `dev` and `tests` name corpora, and
    `tests` holds "test" and any further test sets by name. `leaves` is for parsing alone: the
    target is a tree's brackets with every word as its part of speech ("tags") or as one and the
    same symbol ("dummy"). `form` is for translation alone: null is the text as its corpora have
    it, "lowercased_tokens" the same in lower case, with normalised punctuation and cut into Moses'
    words, as the published models of Multi30k learned it.
    """

    leaves: Literal["tags", "dummy"] | None = None
    form: Literal["lowercased_tokens"] | None = None
    source: str
    target: str
    train: tuple[str, ...]
    dev: str
    tests: Mapping[str, str]
    cleaning: Cleaning

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that are decoded and scored: dev, and every test set."""
        return ("dev", *self.tests)

    def check(self, key: str, kind: str, catalogue: Catalogue) -> None:
        """Raises ConfigError where the corpora do not exist or do not suit the kind of task."""
        parses = kind == "parsing"
        require(
            parses == (self.leaves is not None),
            f"{key}.leaves",
            "is needed for parsing: tags or dummy" if parses else f"is for parsing, not {kind}",
        )
        copies = kind == "copying"
        require(
            self.form is None or kind == "translation",
            f"{key}.form",
            f"is for translation, not {kind}",
        )
        require("test" in self.tests, f"{key}.tests", "needs a set named test")
        for name in self.tests:
            named(name, f"{key}.tests")
            # dev.greedy is what stands before .hypotheses for dev in one of places.WAYS
            require("." not in name, f"{key}.tests.{name}", "holds a '.'")
        for side in ("source", "target"):
            named(getattr(self, side), f"{key}.{side}")
        for reserved in ("train", "dev"):
            require(reserved not in self.tests, f"{key}.tests.{reserved}", "is a reserved name")
        for name in (*self.train, self.dev, *self.tests.values()):
            known(name, catalogue.corpora, key, "corpus")
            corpus = catalogue.corpora[name]
            require(corpus.sides is None or not parses, key, f"needs trees; {name} has none")
            require(
                corpus.treebank is None or parses, key, f"reads {name}, whose trees are for parsing"
            )
            require(
                copies == (corpus.sequences is not None),
                key,
                f"needs sequences; {name} has none"
                if copies
                else f"reads {name}, whose sequences are for copying",
            )
            for language in (self.source, self.target):
                if corpus.sides is not None:
                    known(language, corpus.sides, key, f"language of {name}")
        positive(f"{key}.cleaning.max_words", self.cleaning.max_words)
        positive(f"{key}.cleaning.max_ratio", self.cleaning.max_ratio)


@dataclass(frozen=True, kw_only=True)
class Bpe:
    """The joint source-and-target vocabulary (section 5.1).

    `vocabulary` counts its pieces, `normalization` is sentencepiece's rule. With `symbols: target`,
    each word of the target is one piece: brackets and labels of trees, symbols of sequences.
    """

    symbols: Literal["target"] | None = None
    vocabulary: int
    normalization: Literal["identity", "nmt_nfkc"]

    def check(self, key: str, kind: str) -> None:
        """Raises ConfigError where the vocabulary does not suit the kind of task."""
        require(kind != "parsing" or self.symbols == "target", f"{key}.symbols", "must be target")
        positive(f"{key}.vocabulary", self.vocabulary)


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Beam search (section 6.1): `beam` hypotheses, the exponent `alpha` of the length penalty, and
    an output of at most input + `extra_length` pieces."""

    beam: int
    alpha: float
    extra_length: int

    def check(self, key: str) -> None:
        """Raises ConfigError where nothing could be searched."""
        positive(f"{key}.beam", self.beam)
        positive(f"{key}.extra_length", self.extra_length)
        require(self.alpha >= 0, f"{key}.alpha", "must not be negative")


@dataclass(frozen=True, kw_only=True)
class Task:
    """Sentence in, sentence out.

    `kind` tells what the output is, and thereby how it is scored: a sentence of another language by
    BLEU and chrF, a linearized tree (section 6.3) by bracket F1, the input once more by how many
    are exactly that.
    """

    kind: Literal["translation", "parsing", "copying"]
    text: Text
    bpe: Bpe
    decoding: Decoding

    def check(self, key: str, catalogue: Catalogue) -> None:
        """Raises ConfigError where two parameters of the task contradict each other."""
        self.text.check(f"{key}.text", self.kind, catalogue)
        self.bpe.check(f"{key}.bpe", self.kind)
        self.decoding.check(f"{key}.decoding")
