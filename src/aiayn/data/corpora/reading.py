"""A corpus of the catalogue as a stream of pairs, checked against its declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from aiayn.config import Corpus, Sample, Side
from aiayn.data.corpora.archives import describe, lines_of
from aiayn.data.corpora.copying import sequences
from aiayn.data.corpora.labelled import fold, known_labels, labelled_place, labelled_sentences
from aiayn.data.corpora.treebanks import treebank_trees
from aiayn.data.trees.linear import Leaves, linearize
from aiayn.data.trees.reading import read_tree
from aiayn.data.trees.tree import Tree
from aiayn.errors import DataError


@dataclass(frozen=True)
class Parallel:
    """A corpus as source and target: two languages, words and trees, sentences and labels, or
    sequences and their copies.

    `files` has a path for each download and each local file. `leaves` is set for trees, `labels`
    (all valid labels) for labelled sentences.
    """

    name: str
    corpus: Corpus
    languages: tuple[str, str]
    files: Mapping[str, Path]
    leaves: Leaves | None = None
    labels: tuple[str, ...] | None = None

    def place(self, language: str) -> str:
        """The name of a language's file or archive member in messages."""
        if self.corpus.treebank is not None:
            return f"the treebank {self.name}"
        if self.corpus.sequences is not None:
            return f"the sequences {self.name}"
        if self.corpus.labelled is not None:
            return labelled_place(self.corpus.labelled, self.files)
        if self.corpus.sides is None:
            return f"the grammar's {language}"
        side = self.corpus.sides[language]
        return describe(self.files[side.source], side.member)

    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        """Every pair in order, unchanged.

        Raises:
            DataError: the corpus is empty, its sides differ in length, or their length differs from
                the declared one; a file cannot be read, or a label is unknown.
        """
        stream = self._stream()
        if self.labels is not None:
            stream = known_labels(stream, self.labels, self.place(self.languages[1]))
        count = 0
        for pair in stream:
            count += 1
            yield pair
        if count == 0:
            places = " and ".join(dict.fromkeys(map(self.place, self.languages)))
            raise DataError(f"corpus {self.name}: no line in {places}. Replace the files.")
        if self.corpus.pairs is not None and count != self.corpus.pairs:
            raise DataError(
                f"corpus {self.name}: {count} pairs, but {self.corpus.pairs} are declared. "
                f"Replace the files, or correct catalogue.corpora.{self.name}.pairs."
            )

    def _stream(self) -> Iterator[tuple[bytes, bytes]]:
        if self.leaves is not None:
            return self._linearized(self.leaves)
        if self.corpus.labelled is not None:
            return labelled_sentences(self.corpus.labelled, self.files)
        if self.corpus.sides is None:
            return self._generated()
        if self.corpus.sample is not None:
            return self._sampled(self.corpus.sides, self.corpus.sample)
        return self._aligned(self.corpus.sides)

    def trees(self) -> Iterator[Tree]:
        """Every tree in order, from which a parsing task's pairs are made.

        Raises:
            DataError: a file is missing, or contains anything but trees.
        """
        if self.corpus.treebank is not None:
            yield from treebank_trees(self.name, self.corpus.treebank, self.files)
            return
        from aiayn.data.corpora.grammar import sentences

        assert self.corpus.grammar is not None
        for (line,) in sentences(self.corpus.grammar, ("tree",)):
            yield read_tree(line, self.place("tree"))

    def _linearized(self, leaves: Leaves) -> Iterator[tuple[bytes, bytes]]:
        for tree in self.trees():
            yield " ".join(tree.words).encode(), linearize(tree, leaves).encode()

    def _generated(self) -> Iterator[tuple[bytes, bytes]]:
        if self.corpus.sequences is not None:
            for sequence in sequences(self.corpus.sequences):
                yield sequence.encode(), sequence.encode()
            return
        from aiayn.data.corpora.grammar import sentences  # only generated corpora need the lexicon

        assert self.corpus.grammar is not None
        for source, target in sentences(self.corpus.grammar, self.languages):
            yield source.encode(), target.encode()

    def _sampled(self, sides: Mapping[str, Side], sample: Sample) -> Iterator[tuple[bytes, bytes]]:
        seen: set[bytes] = set()
        by = self.languages.index(sample.by)
        for pair in self._aligned(sides):
            sentence = pair[by].strip()
            if fold(sentence, sample) == sample.fold and sentence not in seen:
                seen.add(sentence)
                yield pair

    def _aligned(self, sides: Mapping[str, Side]) -> Iterator[tuple[bytes, bytes]]:
        sources, targets = (self._lines(sides[language]) for language in self.languages)
        for paired, (source, target) in enumerate(zip_longest(sources, targets)):
            if source is None or target is None:
                longer = paired + 1 + sum(1 for _ in chain(sources, targets))
                raise DataError(self._unequal(paired, longer, source_is_longer=target is None))
            yield source, target

    def _lines(self, side: Side) -> Iterator[bytes]:
        return lines_of(side, self.files[side.source])

    def _unequal(self, shorter: int, longer: int, *, source_is_longer: bool) -> str:
        counts = (longer, shorter) if source_is_longer else (shorter, longer)
        both = " but ".join(
            f"{count} lines in {self.place(language)}"
            for count, language in zip(counts, self.languages, strict=True)
        )
        return f"corpus {self.name}: {both}. The files must be aligned line by line."
