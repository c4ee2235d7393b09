"""Sentences that a user types, in the form of a task's training text."""

from __future__ import annotations

from collections.abc import Sequence

from aiayn.config import Task
from aiayn.data.moses import normalized


def like_training_text(sentences: Sequence[str], task: Task) -> list[str]:
    """The sentences as the task's model expects them, before the vocabulary splits them."""
    if task.kind == "parsing":
        return [line.replace("(", "-LRB-").replace(")", "-RRB-") for line in sentences]
    if task.kind == "classification":
        return [line.strip() for line in sentences]
    if task.text.form is not None:
        return normalized(sentences, task.text.source)
    return [*sentences]
