"""Classification of sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from aiayn.data.bpe.vocabulary import Bpe
from aiayn.data.tokens.special import END, PAD
from aiayn.model.classifier import Classifier
from aiayn.model.device import Device
from aiayn.results.predictions import Prediction

BATCH_TOKENS = 8192  # per batch, including padding


def probabilities(
    model: Classifier,
    bpe: Bpe,
    sentences: Sequence[str],
    device: Device,
    done: Callable[[int], object] = lambda sentences: None,
) -> list[list[float]]:
    """The probabilities of the labels for each sentence, in the order of
    `tokens.label_pieces.in_order`. An empty sentence is encoded as the end symbol only.

    Args:
        model: in evaluation mode, on `device`.
        done: called with the number of newly finished sentences.
    """
    sources = bpe.encode(sentences, end=True)
    found: list[list[float]] = [[] for _ in sources]
    for batch in _batches(sources):
        rows = [torch.tensor(sources[n]) for n in batch]
        source_BS = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
        with torch.inference_mode(), device.autocast():
            logits_BY = model(source_BS.to(device.device))
        for n, row in zip(batch, logits_BY.double().softmax(dim=1).tolist(), strict=True):
            found[n] = row
        done(len(batch))
    return found


def predictions(probabilities: Sequence[Sequence[float]], names: Sequence[str]) -> list[Prediction]:
    """The most probable label of each sentence; the first one in a tie."""
    best = [max(range(len(names)), key=row.__getitem__) for row in probabilities]
    return [Prediction(names[n], row[n]) for n, row in zip(best, probabilities, strict=True)]


def _batches(sources: Sequence[Sequence[int]]) -> list[list[int]]:
    """Batches of sentence numbers, grouped by length. Each source must end in END."""
    assert all(source[-1] == END for source in sources)
    batches: list[list[int]] = []
    for n in sorted(range(len(sources)), key=lambda n: len(sources[n])):
        if batches and (len(batches[-1]) + 1) * len(sources[n]) <= BATCH_TOKENS:
            batches[-1].append(n)
        else:
            batches.append([n])
    return batches
