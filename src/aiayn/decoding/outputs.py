"""A run's output lines for each kind of task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiayn.config import Decoding, Kind, Model, Task
from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.label_pieces import in_order
from aiayn.decoding.classify import predictions, probabilities
from aiayn.decoding.text import translate
from aiayn.decoding.weights import load_classifier, load_model
from aiayn.model.classifier import Classifier
from aiayn.model.device import Device
from aiayn.results.predictions import lines as prediction_lines

Done = Callable[[int], object]


@dataclass(frozen=True)
class Decoder:
    """A run's checkpoint, model (its row of table 3), task, vocabulary and device."""

    weights: Path
    row: Model
    task: Task
    bpe: Bpe
    device: Device

    def lines(self, sentences: Sequence[str], search: Decoding | None, done: Done) -> list[str]:
        """One line per sentence.

        Args:
            search: parameters of beam search; None: the task's, or none for a classification.
            done: called with the number of newly finished sentences.
        Raises:
            CheckpointError: as `load_model`.
        """
        return LINES[self.task.kind](self, sentences, search, done)


def _translations(
    decoder: Decoder, sentences: Sequence[str], search: Decoding | None, done: Done
) -> list[str]:
    model = load_model(decoder.weights, decoder.row, decoder.bpe.size, decoder.device)
    decoding = search or decoder.task.search
    return translate(model, decoder.bpe, sentences, decoding, decoder.device, done)


def _labels(
    decoder: Decoder, sentences: Sequence[str], _: Decoding | None, done: Done
) -> list[str]:
    names, model = in_order(decoder.task.text.labels or ()), classifier_of(decoder)
    assert model is not None
    found = probabilities(model, decoder.bpe, sentences, decoder.device, done)
    return prediction_lines(predictions(found, names))


def classifier_of(decoder: Decoder) -> Classifier | None:
    """The model if it is a classifier, else None. Raises CheckpointError like `load_model`."""
    labels = decoder.task.text.labels
    if labels is None:
        return None
    return load_classifier(
        decoder.weights, decoder.row, decoder.bpe.size, len(labels), decoder.device
    )


LINES: Mapping[Kind, Callable[[Decoder, Sequence[str], Decoding | None, Done], list[str]]] = {
    "translation": _translations,
    "parsing": _translations,
    "copying": _translations,
    "classification": _labels,
}
