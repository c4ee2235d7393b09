"""A task: its text, its vocabulary, and how an output is searched for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from aiayn.config.corpora import Catalogue
from aiayn.config.rules import known, named, positive, require
from aiayn.errors import ConfigError

Kind = Literal["translation", "parsing", "copying", "classification"]


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
    target is a tree's brackets with every word as its part of speech ("tags"), as one and the same
    symbol ("dummy") or as it is ("words"). `form` is for translation alone: null is the text as its
    corpora have it, "lowercased_tokens" the same in lower case, with normalised punctuation and cut
    into Moses' words, as the published models of Multi30k learned it. `labels` is for
    classification alone: every label that a target may be, one word each.
    """

    leaves: Literal["tags", "dummy", "words"] | None = None
    form: Literal["lowercased_tokens"] | None = None
    labels: tuple[str, ...] | None = None
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
        """Raises ConfigError where the corpora do not exist, do not suit the kind of task or are
        named twice for training."""
        parses = kind == "parsing"
        _belongs(self.leaves, f"{key}.leaves", kind, "parsing", "tags, dummy or words")
        _belongs(self.labels, f"{key}.labels", kind, "classification", "what a target may be")
        require(
            self.form is None or kind == "translation",
            f"{key}.form",
            f"is for translation, not {kind}",
        )
        _check_labels(self.labels, f"{key}.labels")
        copies = kind == "copying"
        require("test" in self.tests, f"{key}.tests", "needs a set named test")
        for name in self.tests:
            named(name, f"{key}.tests")
            # dev.greedy is what stands before .hypotheses for dev in one of places.WAYS
            require("." not in name, f"{key}.tests.{name}", "holds a '.'")
        for side in ("source", "target"):
            named(getattr(self, side), f"{key}.{side}")
        for reserved in ("train", "dev"):
            require(reserved not in self.tests, f"{key}.tests.{reserved}", "is a reserved name")
        for name in self.train:
            complaint = f"names the corpus {name!r} more than once; name it once"
            require(self.train.count(name) == 1, f"{key}.train", complaint)
        for name in (*self.train, self.dev, *self.tests.values()):
            known(name, catalogue.corpora, key, "corpus")
            corpus = catalogue.corpora[name]
            has_trees = corpus.treebank is not None or corpus.grammar is not None
            require(has_trees or not parses, key, f"needs trees; {name} has none")
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
            require(
                corpus.labelled is None or self.labels is not None,
                key,
                f"reads {name}, whose labels are for classification",
            )
            for language in (self.source, self.target):
                if corpus.sides is not None:
                    known(language, corpus.sides, key, f"language of {name}")
            for label in corpus.labelled.texts if corpus.labelled else ():
                known(label, self.labels or (), f"{key}.labels", f"label of {name},")
        positive(f"{key}.cleaning.max_words", self.cleaning.max_words)
        positive(f"{key}.cleaning.max_ratio", self.cleaning.max_ratio)


def _belongs(value: object, key: str, kind: str, owner: str, choice: str) -> None:
    """Raises ConfigError unless a parameter is there for the kind that it is for, and only then."""
    require(
        (kind == owner) == (value is not None),
        key,
        f"is needed for {owner}: {choice}" if kind == owner else f"is for {owner}, not {kind}",
    )


def _check_labels(labels: tuple[str, ...] | None, key: str) -> None:
    """Raises ConfigError unless labels are told apart, and each can be one piece."""
    if labels is None:
        return
    require(len(labels) > 1, key, "has one label only: nothing could be told apart; name two")
    require(len(set(labels)) == len(labels), key, "holds a label twice")
    for label in labels:
        named(label, key)


@dataclass(frozen=True, kw_only=True)
class Bpe:
    """The joint source-and-target vocabulary (section 5.1).

    `vocabulary` counts its pieces, `normalization` is sentencepiece's rule. With `symbols: target`,
    each word of the target is one piece: brackets and labels of trees, symbols of sequences, or
    what a sentence is labelled with. With `symbols: brackets`, each that begins with a bracket is:
    for trees whose leaves are words.
    """

    symbols: Literal["target", "brackets"] | None = None
    vocabulary: int
    normalization: Literal["identity", "nmt_nfkc"]

    def check(self, key: str, kind: str, leaves: str | None) -> None:
        """Raises ConfigError where the vocabulary does not suit the kind of task."""
        wanted = "brackets" if leaves == "words" else "target"
        require(
            kind == "translation" or self.symbols == wanted, f"{key}.symbols", f"must be {wanted}"
        )
        require(leaves == "words" or self.symbols != "brackets", f"{key}.symbols", "is for trees")
        positive(f"{key}.vocabulary", self.vocabulary)


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Beam search (section 6.1): `beam` hypotheses, the exponent `alpha` of the length penalty, and
    an output of at most input + `extra_length` pieces.

    `stop` says when a sentence is done: when no hypothesis that is open can still be its best
    ("bound", the authors' code), or as soon as `beam` have ended ("beam", as in CTranslate2), which
    is sooner and may miss a better one.
    """

    beam: int
    alpha: float
    extra_length: int
    stop: Literal["bound", "beam"] = "bound"

    def check(self, key: str) -> None:
        """Raises ConfigError where nothing could be searched."""
        positive(f"{key}.beam", self.beam)
        positive(f"{key}.extra_length", self.extra_length)
        require(self.alpha >= 0, f"{key}.alpha", "must not be negative")


@dataclass(frozen=True, kw_only=True)
class Task:
    """Sentence in, sentence out; or a label.

    `kind` tells what the output is, and thereby how it is scored: a sentence of another language by
    BLEU and chrF, a linearized tree (section 6.3) by bracket F1, the input once more by how many
    are exactly that, or a label by accuracy. A label is not searched for: `decoding` is null.
    """

    kind: Kind
    text: Text
    bpe: Bpe
    decoding: Decoding | None

    @property
    def search(self) -> Decoding:
        """How an output is searched for. Raises ConfigError where the outputs are labels."""
        if self.decoding is None:
            raise ConfigError(f"a task of the kind {self.kind} has no decoding: it gives labels.")
        return self.decoding

    def check(self, key: str, catalogue: Catalogue) -> None:
        """Raises ConfigError where two parameters of the task contradict each other."""
        self.text.check(f"{key}.text", self.kind, catalogue)
        self.bpe.check(f"{key}.bpe", self.kind, self.text.leaves)
        labels = self.kind == "classification"
        require(
            labels == (self.decoding is None),
            f"{key}.decoding",
            "must be null: a label is not searched for" if labels else "is needed",
        )
        if self.decoding is not None:
            self.decoding.check(f"{key}.decoding")
