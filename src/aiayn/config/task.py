"""A task: its text, its vocabulary, and how an output is searched for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, Self

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from aiayn.config.corpora import Corpus
from aiayn.config.names import Name
from aiayn.errors import ConfigError
from aiayn.validation import Items, StrictModel, invalid

Kind = Literal["translation", "parsing", "copying", "classification"]


class Cleaning(StrictModel):
    """Rules by which training pairs are dropped, in this order; null or false switches one off.

    field | drops a pair
    --- | ---
    invalid_utf8 | with bytes that are not UTF-8
    empty | with an empty side
    max_words | with more words on a side
    max_ratio | with sides whose numbers of words differ by more than this factor
    identical | with equal sides
    held_out | that shares a side with the dev set or a test set
    duplicates | that came before

    `held_out` compares letters and digits alone, in lower case.
    """

    invalid_utf8: bool
    empty: bool
    max_words: PositiveInt | None
    max_ratio: PositiveFloat | None
    identical: bool
    held_out: bool = False
    duplicates: bool


class Text(StrictModel):
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
    labels: Items[Name] | None = None
    source: Name
    target: Name
    train: Items[str]
    dev: str
    tests: Mapping[Name, str]
    cleaning: Cleaning

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that are decoded and scored: dev, and every test set."""
        return ("dev", *self.tests)

    @property
    def corpora(self) -> tuple[str, ...]:
        """Names of all corpora, some perhaps twice."""
        return (*self.train, self.dev, *self.tests.values())

    @model_validator(mode="after")
    def _check_splits(self) -> Self:
        if "test" not in self.tests:
            raise invalid("tests", "needs a set named test.")
        for name in self.tests:
            if name in ("train", "dev"):
                raise invalid(f"tests.{name}", "is a reserved name.")
            if "." in name:  # dev.greedy is the stem of a file beside those of the test sets
                raise invalid(f"tests.{name}", "holds a '.'.")
        for name in self.train:
            if self.train.count(name) > 1:
                raise invalid("train", f"names the corpus {name!r} more than once; name it once.")
        return self

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        labels = self.labels
        if labels is not None and len(labels) < 2:
            raise invalid("labels", "has one label only; name at least two.")
        if labels is not None and len(set(labels)) < len(labels):
            raise invalid("labels", "holds a label twice.")
        return self


class Bpe(StrictModel):
    """The joint source-and-target vocabulary (section 5.1).

    `vocabulary` counts its pieces, `normalization` is sentencepiece's rule. With `symbols: target`,
    each word of the target is one piece: brackets and labels of trees, symbols of sequences, or
    the labels of sentences. With `symbols: brackets`, each that begins with a bracket is: for trees
    whose leaves are words.
    """

    symbols: Literal["target", "brackets"] | None = None
    vocabulary: PositiveInt
    normalization: Literal["identity", "nmt_nfkc"]


class Decoding(StrictModel):
    """Beam search (section 6.1): `beam` hypotheses, the exponent `alpha` of the length penalty, and
    an output of at most input + `extra_length` pieces.

    `stop` says when a sentence is done: when no open hypothesis can still become its best
    ("bound", the authors' code), or as soon as `beam` have ended ("beam", as in CTranslate2), which
    is sooner and may miss a better one.
    """

    beam: PositiveInt
    alpha: NonNegativeFloat
    extra_length: PositiveInt
    stop: Literal["bound", "beam"] = "bound"


class Task(StrictModel):
    """Sentence in, sentence out; or a label.

    `kind` says what the output is, and thereby how it is scored: a sentence of another language by
    BLEU and chrF, a linearized tree (section 6.3) by bracket F1, a copy of the input by how many
    are exact, or a label by accuracy. A label is not searched for: `decoding` is null.
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

    @model_validator(mode="after")
    def _check_text(self) -> Self:
        self._check_owner("leaves", "parsing", "tags, dummy or words")
        self._check_owner("labels", "classification", "the labels of its targets")
        if self.text.form is not None and self.kind != "translation":
            raise invalid("text.form", f"is for translation, not {self.kind}.")
        return self

    def _check_owner(self, field: str, kind: Kind, choice: str) -> None:
        """A field of the text that one kind of task needs and no other may have."""
        is_set = getattr(self.text, field) is not None
        if self.kind == kind and not is_set:
            raise invalid(f"text.{field}", f"is needed for {kind}: {choice}.")
        if self.kind != kind and is_set:
            raise invalid(f"text.{field}", f"is for {kind}, not {self.kind}.")

    @model_validator(mode="after")
    def _check_symbols(self) -> Self:
        symbols = "brackets" if self.text.leaves == "words" else "target"
        if self.kind != "translation" and self.bpe.symbols != symbols:
            raise invalid("bpe.symbols", f"must be {symbols}.")
        if self.kind == "translation" and self.bpe.symbols == "brackets":
            raise invalid("bpe.symbols", "is for trees.")
        return self

    @model_validator(mode="after")
    def _check_decoding(self) -> Self:
        labels = self.kind == "classification"
        if labels and self.decoding is not None:
            raise invalid("decoding", "must be null: a label is not searched for.")
        if not labels and self.decoding is None:
            raise invalid("decoding", "is needed.")
        return self

    def complaints(self, name: str, corpus: Corpus) -> Iterator[str]:
        """Why a corpus of this name does not suit the kind of the task."""
        if self.kind == "parsing" and corpus.treebank is None and corpus.grammar is None:
            yield f"needs trees; {name} has none."
        if self.kind == "copying" and corpus.sequences is None:
            yield f"needs sequences; {name} has none."
        for part, noun, kind in (
            (corpus.treebank, "trees", "parsing"),
            (corpus.sequences, "sequences", "copying"),
            (corpus.labelled, "labels", "classification"),
        ):
            if part is not None and self.kind != kind:
                yield f"reads {name}, whose {noun} are for {kind}."
