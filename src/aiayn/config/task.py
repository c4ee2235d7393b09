"""A task: its text, its vocabulary and its decoding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from aiayn.config.corpora import Corpus
from aiayn.errors import ConfigError
from aiayn.validation import Items, Name, StrictModel, invalid

Kind = Literal["translation", "parsing", "copying", "classification"]


class Cleaning(StrictModel):
    """Rules that drop training pairs, applied in this order; null or false turns one off.

    field | drops a pair
    --- | ---
    invalid_utf8 | with bytes that are not UTF-8
    empty | with an empty side
    max_words | with more words on a side
    max_ratio | if the sides' numbers of words differ by more than this factor
    identical | with equal sides
    held_out | that shares a side with the dev set or a test set
    duplicates | that occurred before

    `held_out` compares only letters and digits, in lower case.
    """

    invalid_utf8: bool
    empty: bool
    max_words: PositiveInt | None
    max_ratio: PositiveFloat | None
    identical: bool
    held_out: bool = False
    duplicates: bool


class Text(StrictModel):
    """The corpora of a task.

    `source` and `target` are languages (or `tree`); `train`, `dev` and `tests` name corpora, and
    `tests` has "test" and any further test sets by name. `leaves` is only for parsing: the target
    is a tree's brackets with every word replaced by its part of speech ("tags"), by one symbol
    ("dummy"), or kept ("words"). `form` is only for translation: null is the raw text of the
    corpora, "lowercased_tokens" is lowercased, with normalised punctuation and Moses tokenization,
    as used by the published models of Multi30k. `labels` is only for classification: all labels,
    one word each.
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
        """Names of all corpora, possibly with duplicates."""
        return (*self.train, self.dev, *self.tests.values())

    @model_validator(mode="after")
    def _check_splits(self) -> Self:
        if "test" not in self.tests:
            raise invalid("tests", "needs a set named test.")
        for name in self.tests:
            if name in ("train", "dev"):
                raise invalid(f"tests.{name}", "is a reserved name.")
            if "." in name:  # file names like dev.greedy are used for decoding modes
                raise invalid(f"tests.{name}", "contains a '.'; rename it.")
        for name in self.train:
            if self.train.count(name) > 1:
                raise invalid("train", f"names the corpus {name!r} more than once; name it once.")
        return self

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        labels = self.labels
        if labels is not None and len(labels) < 2:
            raise invalid("labels", "needs at least two labels.")
        if labels is not None and len(set(labels)) < len(labels):
            raise invalid("labels", "contains a label twice.")
        return self


class Bpe(StrictModel):
    """The joint source-and-target vocabulary (section 5.1).

    `vocabulary` is the number of pieces, `normalization` sentencepiece's rule. With `symbols:
    target`, each word of the target is one piece: brackets and labels of trees, symbols of
    sequences, or labels of sentences. With `symbols: brackets`, only words that begin with a
    bracket are: for trees whose leaves are words.
    """

    symbols: Literal["target", "brackets"] | None = None
    vocabulary: PositiveInt
    normalization: Literal["identity", "nmt_nfkc"]


# a mistyped beam would fill the memory, and a larger alpha overflow the penalty of a long output
MAX_BEAM, MAX_ALPHA = 1000, 50


class Decoding(StrictModel):
    """Beam search (section 6.1): beam size `beam`, exponent `alpha` of the length penalty, and a
    maximum output length of input + `extra_length` pieces.

    `stop` is the stopping criterion of a sentence: "bound" stops when no open hypothesis can become
    the best one (as in the authors' code); "beam" stops when `beam` hypotheses have ended (as in
    CTranslate2), which is earlier and may miss a better one.
    """

    beam: Annotated[PositiveInt, Field(le=MAX_BEAM)]
    alpha: Annotated[NonNegativeFloat, Field(le=MAX_ALPHA)]
    extra_length: PositiveInt
    stop: Literal["bound", "beam"] = "bound"


class Task(StrictModel):
    """A task from sentences to sentences or labels.

    `kind` says what the output is and how it is scored: a translation by BLEU and chrF, a
    linearized tree (section 6.3) by bracket F1, a copy of the input by exact match, a label by
    accuracy. A classification has no search: `decoding` is null.
    """

    kind: Kind
    text: Text
    bpe: Bpe
    decoding: Decoding | None

    @property
    def search(self) -> Decoding:
        """The parameters of beam search. Raises ConfigError for a classification."""
        if self.decoding is None:
            raise ConfigError(f"a task of kind {self.kind} has no decoding: it outputs labels.")
        return self.decoding

    @model_validator(mode="after")
    def _check_text(self) -> Self:
        self._check_owner("leaves", "parsing", "tags, dummy or words")
        self._check_owner("labels", "classification", "the labels of its targets")
        if self.text.form is not None and self.kind != "translation":
            raise invalid("text.form", f"is for translation, not {self.kind}.")
        return self

    def _check_owner(self, field: str, kind: Kind, choice: str) -> None:
        """A field of the text that one kind of task requires and the others may not have."""
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
            raise invalid("decoding", "must be null: a classification has no search.")
        if not labels and self.decoding is None:
            raise invalid("decoding", "is needed: it may be null only for a classification.")
        return self

    def errors(self, name: str, corpus: Corpus) -> Iterator[str]:
        """Why a corpus does not fit the kind of task."""
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
