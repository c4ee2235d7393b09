"""A sentence that a user types gets the form of the training text."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiayn import config
from aiayn.config import Kind
from aiayn.data.input_text import like_training_text

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("kind", "form", "expected"),
    [
        ("translation", "lowercased_tokens", "a dog ( here ) , asleep ."),
        ("translation", None, " A dog (here), asleep."),
        ("parsing", None, " A dog -LRB-here-RRB-, asleep."),
        ("classification", None, "A dog (here), asleep."),
    ],
)
def test_the_form_is_that_of_the_task(kind: Kind, form: str | None, expected: str) -> None:
    task = config.load(ROOT / config.PARAMS).task("en-de")
    text = task.text.model_copy(update={"form": form})
    task = task.model_copy(update={"kind": kind, "text": text})
    assert like_training_text([" A dog (here), asleep.", ""], task) == [expected, ""]
