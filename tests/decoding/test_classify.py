"""Labels of sentences: empty, of 3,000 words, and independent of their batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from aiayn.config import Model
from aiayn.decoding.classify import predictions, probabilities
from aiayn.model.classifier import Classifier
from aiayn.model.device import Device
from aiayn.results.predictions import Prediction

CPU = Device(torch.device("cpu"), "float32")


class Letters:
    """A vocabulary of the letters a to p; END is 3."""

    def encode(self, lines: list[str], *, end: bool) -> list[list[int]]:
        return [[*(ord(word) - ord("a") + 4 for word in line.split()), 3] for line in lines]


@pytest.mark.parametrize("positions", ["sinusoid", "learned"])
def test_any_length_alone_and_in_a_batch(positions: str, tiny: Callable[..., Model]) -> None:
    torch.manual_seed(3)
    model = Classifier(tiny(positions=positions), 20, 3, max_length=8).eval()
    sentences = ["a b c", "", "b " * 3000, "c b a p"]
    progress: list[int] = []
    together = probabilities(model, Letters(), sentences, CPU, progress.append)  # type: ignore[arg-type]
    alone = [probabilities(model, Letters(), [s], CPU)[0] for s in sentences]  # type: ignore[arg-type]
    torch.testing.assert_close(torch.tensor(together), torch.tensor(alone), rtol=1e-5, atol=1e-6)
    assert sum(progress) == 4
    assert all(sum(row) == pytest.approx(1) for row in together)


def test_the_most_probable_label() -> None:
    names = ["a", "b", "c"]
    found = predictions([[0.2, 0.7, 0.1], [0.4, 0.2, 0.4]], names)
    assert found == [Prediction("b", 0.7), Prediction("a", 0.4)]
