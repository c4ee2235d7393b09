"""Inference with a trained run: translation, parsing or classification."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pandas as pd
from pydantic import ValidationError

from aiayn import config
from aiayn.config import Decoding, Kind
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.input_text import like_training_text
from aiayn.data.tokens.label_pieces import in_order
from aiayn.data.trees.linear import restore, tags_of
from aiayn.data.trees.tree import Tree
from aiayn.decoding.beam import length_penalty
from aiayn.decoding.classify import probabilities
from aiayn.decoding.text import n_best_outputs, translate
from aiayn.decoding.weights import load_classifier, load_model, weights_in
from aiayn.errors import CheckpointError, ConfigError, DataError
from aiayn.illustrations.attention import label_maps, sentence_maps
from aiayn.model.classifier import Classifier
from aiayn.model.device import Device, open_device
from aiayn.model.transformer import Transformer
from aiayn.report.attention_figures import attention_figure, single_head_figure
from aiayn.report.section import Figure
from aiayn.results import paths
from aiayn.results.illustrations import AttentionMaps
from aiayn.validation import message

# attention needs memory quadratic in a sentence's pieces: 0.5 GB for 8 heads and 4,096 pieces
LONGEST = 4096

WORD_BEGIN = "\u2581"
BYTE = re.compile(r"<0x[0-9A-F]{2}>")  # of a character that the vocabulary lacks
LETTERS, LETTERS_IN_A_PIECE = 6, 1.5  # a word of so many at least, in pieces of fewer each

# by kind of task: its method (and subcommand), and the verb for the error message
USES: Mapping[Kind, tuple[str, str]] = {
    "translation": ("translate", "translates"),
    "parsing": ("parse", "parses"),
    "copying": ("translate", "copies"),
    "classification": ("classify", "classifies"),
}


class TrainedRun:
    """A run of params.yaml, with the averaged weights if it is tested, else the last checkpoint.

    All methods take raw sentences and return one result per sentence, an empty one for an empty
    sentence. They raise ConfigError if the run's task is of another kind, CheckpointError if it has
    no weights yet, and DataError if a sentence has more than LONGEST pieces.

    Args:
        name: the run's name, such as en-de.base.
        root: the folder with params.yaml and the run's files.
    Raises:
        ConfigError: there is no such run.
    """

    def __init__(self, name: str, root: Path = Path()) -> None:
        self.name = name
        self._root = root
        self._params = config.load(root / config.PARAMS)
        self._task = self._params.task_of(name)
        self._row = self._params.model_of(name)

    def require(self, use: str) -> None:
        """Raises ConfigError, which names the right command, if the run does not support `use`."""
        right, verb = USES[self._task.kind]
        if use != right:
            raise ConfigError(f"{self.name} does not {use}, it {verb}. Use aiayn {right}.")

    def too_long(self, sentences: Sequence[str]) -> dict[int, str]:
        """The error message for each sentence of more than LONGEST pieces, by its index."""
        encoded = self.vocabulary.encode(like_training_text(sentences, self._task))
        return {
            n: f"has {len(pieces):,} pieces; the limit is {LONGEST:,}. Split it into sentences."
            for n, pieces in enumerate(encoded)
            if len(pieces) > LONGEST
        }

    def unfamiliar(self, sentences: Sequence[str]) -> dict[int, list[str]]:
        """Words that the vocabulary splits into bytes or nearly into single letters, by the
        sentence's index. They are rare in the training text, so their translation is a guess. In
        held-out text of the demo, one sentence in two thousand has such a word."""
        found = {}
        for n, sentence in enumerate(like_training_text(sentences, self._task)):
            words = [word.strip(string.punctuation) for word in sentence.split()]
            pieces = map(self.vocabulary.pieces, self.vocabulary.encode(words))
            found[n] = [w for w, parts in zip(words, pieces, strict=True) if _is_cut(w, parts)]
        return {n: words for n, words in found.items() if words}

    def translate(
        self, sentences: Sequence[str], *, beam: int | None = None, alpha: float | None = None
    ) -> list[str]:
        """The best hypothesis for each sentence.

        Args:
            beam: beam size; default: as in params.yaml.
            alpha: exponent of the length penalty; default: as in params.yaml.
        """
        self.require("translate")
        return self._decoded(self._prepared(sentences), beam, alpha)

    def hypotheses(
        self,
        sentences: Sequence[str],
        *,
        n_best: int | None = None,
        beam: int | None = None,
        alpha: float | None = None,
    ) -> pd.DataFrame:
        """The best hypotheses that the beam search finds for each sentence, with their scores.

        Args:
            n_best: hypotheses per sentence, at most; from 1 to the beam size, which is the default.
            beam, alpha: as for `translate`.
        Returns:
            A row for each hypothesis, a sentence's best first: `sentence` (its number, from 0),
            `rank` (from 1), `text`, `pieces` (without the end symbol), `log_probability` (natural
            logarithm, of all pieces and the end symbol) and `score` (the log-probability divided by
            the length penalty, by which hypotheses are ranked; section 6.1).
        Raises:
            ConfigError: n_best is not from 1 to the beam size.
        """
        self.require("translate")
        search = self._search(beam, alpha)
        n = search.beam if n_best is None else n_best
        if not 1 <= n <= search.beam:
            raise ConfigError(f"n_best is {n}; it must be from 1 to the beam size, {search.beam}.")
        prepared = self._prepared(sentences)
        model, vocabulary = self.transformer, self.vocabulary
        found = n_best_outputs(model, vocabulary, prepared, search, self._device, n)
        rows = [
            (
                number, rank, output.text, output.pieces,
                output.score * length_penalty(output.pieces + 1, search.alpha), output.score,
            )
            for number, outputs in enumerate(found)
            for rank, output in enumerate(outputs, 1)
        ]  # fmt: skip
        columns = ["sentence", "rank", "text", "pieces", "log_probability", "score"]
        return pd.DataFrame(rows, columns=columns)

    def parse(
        self, sentences: Sequence[str], *, beam: int | None = None, alpha: float | None = None
    ) -> list[Tree]:
        """A tree over the space-separated words of each sentence. An output that is not a tree is
        repaired as for scoring: a word without a leaf gets the tag XX. Arguments as for
        `translate`."""
        self.require("parse")
        sentences = self._prepared(sentences)
        outputs = self._decoded(sentences, beam, alpha)
        trees = []
        for output, sentence in zip(outputs, sentences, strict=True):
            symbols, words = output.split(), sentence.split()
            trees.append(restore(symbols, words, tags_of(symbols, len(words))).tree)
        return trees

    def classify(self, sentences: Sequence[str]) -> list[dict[str, float]]:
        """The probability of each label, in the labels' order."""
        self.require("classify")
        sentences = self._prepared(sentences)
        found = probabilities(self._classifier, self.vocabulary, sentences, self._device)
        return [
            dict(zip(self._labels, row, strict=True)) if sentence else {}
            for sentence, row in zip(sentences, found, strict=True)
        ]

    def predict(self, sentences: Sequence[str]) -> list[str]:
        """A translation, a bracketed tree or a label for each sentence, as text."""
        use, _ = USES[self._task.kind]
        if use == "parse":
            return [str(tree) if tree.words else "" for tree in self.parse(sentences)]
        if use == "classify":
            return [max(p, key=p.__getitem__, default="") for p in self.classify(sentences)]
        return self.translate(sentences)

    def attention(
        self, sentence: str, *, beam: int | None = None, alpha: float | None = None
    ) -> AttentionMaps:
        """The attention weights of every layer and head, for a sentence and the run's output for
        it: `.frame("cross")` has them as a DataFrame. Arguments as for `translate`. Raises
        DataError if the sentence is empty."""
        (sentence,) = self._prepared([sentence])
        if not sentence.strip():
            raise DataError("the sentence is empty, so there is no attention.")
        names = {"run": self.name, "task": self._params.run(self.name).task}
        if self._task.kind == "classification":
            (likely,) = self.classify([sentence])
            label = max(likely, key=likely.__getitem__)
            return label_maps(self._classifier, self.vocabulary, sentence, label, **names)
        (output,) = self._decoded([sentence], beam, alpha)
        return sentence_maps(self.transformer, self.vocabulary, sentence, output, **names)

    def attention_figure(
        self,
        sentence: str,
        kind: str = "cross",
        *,
        layer: int | None = None,
        head: int | None = None,
        beam: int | None = None,
        alpha: float | None = None,
    ) -> Figure:
        """The same as a figure that notebooks display: `.svg` is the image, `.data` the weights.

        Args:
            kind: encoder or decoder (self-attention), or cross: from the decoder to the encoder's
                output. A classifier has only the encoder's.
            layer, head: the one head to show large, counted from 1; default: all heads, small.
            beam, alpha: as for `translate`.
        Raises:
            ConfigError: the run has no attention of that kind, or no such head.
        """
        maps = self.attention(sentence, beam=beam, alpha=alpha)
        if kind not in maps.maps:
            kinds = ", ".join(maps.maps)
            raise ConfigError(f"{self.name} has no attention of kind {kind!r}. Use: {kinds}.")
        if layer is None and head is None:
            return attention_figure(maps, kind)
        layers, heads = len(maps.layers(kind)), len(maps.layers(kind)[0])
        if layer and head and 1 <= layer <= layers and 1 <= head <= heads:
            return single_head_figure(maps, kind, layer, head)
        raise ConfigError(
            f"layer {layer}, head {head}: {self.name} has layers 1 to {layers} and heads 1 to "
            f"{heads}. Name both, or neither."
        )

    def _prepared(self, sentences: Sequence[str]) -> list[str]:
        """Sentences in the form of the training text. Raises DataError if one is too long, or if
        they are a single string, whose characters would be the sentences."""
        if isinstance(sentences, str):
            raise DataError(f"sentences must be a list: [{sentences!r}]")
        for n, problem in self.too_long(sentences).items():
            raise DataError(f"sentence {n + 1} {problem}")
        return like_training_text(sentences, self._task)

    def _decoded(
        self, sentences: Sequence[str], beam: int | None, alpha: float | None
    ) -> list[str]:
        search = self._search(beam, alpha)
        return translate(self.transformer, self.vocabulary, sentences, search, self._device)

    def _search(self, beam: int | None, alpha: float | None) -> Decoding:
        changes = {"beam": beam, "alpha": alpha}
        try:
            return self._task.search.replace(
                **{name: value for name, value in changes.items() if value is not None}
            )
        except ValidationError as error:
            raise ConfigError(message(error)) from None

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return tuple(in_order(self._task.text.labels or ()))

    @cached_property
    def transformer(self) -> Transformer:
        """The model, in evaluation mode; a classifier has none."""
        return load_model(self._weights(), self._row, self.vocabulary.size, self._device)

    @cached_property
    def _classifier(self) -> Classifier:
        labels = len(self._labels)
        return load_classifier(
            self._weights(), self._row, self.vocabulary.size, labels, self._device
        )

    @cached_property
    def vocabulary(self) -> Bpe:
        """Turns text into piece ids and back."""
        vocabulary = paths.vocabulary(self._params.run(self.name).task)
        return Bpe(self._root / paths.bpe_model(vocabulary))

    @cached_property
    def _device(self) -> Device:
        machine = self._params.machine
        # as in the stage decode, except that a run trained on GPUs can be used on any machine
        device = "auto" if machine.device == "cuda" else machine.device
        return open_device(device, "float32", d_model=self._row.d_model, threads=machine.threads)

    def _weights(self) -> Path:
        averaged = self.name in self._params.tested
        weights = weights_in(self._root / paths.model(self.name), averaged=averaged)
        if not weights.exists():
            raise CheckpointError(
                f"{weights}: the run {self.name} has no weights yet. Train it: dvc repro "
                f"average@{self.name}; or, if it was trained elsewhere: dvc pull."
            )
        return weights


def _is_cut(word: str, pieces: Sequence[str]) -> bool:
    parts = [piece for piece in pieces if piece != WORD_BEGIN]
    if any(BYTE.fullmatch(part) for part in parts):
        return True
    return len(word) >= LETTERS and word.isalpha() and len(word) < LETTERS_IN_A_PIECE * len(parts)
