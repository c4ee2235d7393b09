"""The format numbers of all kinds of files."""

from __future__ import annotations

from collections.abc import Mapping

from aiayn.results import (
    checkpoints,
    comparison,
    history,
    illustrations,
    predictions,
    profiles,
    scores,
    text,
    tokens,
)

FORMATS: Mapping[str, int] = {
    "text": text.FORMAT,
    "tokens": tokens.FORMAT,
    "checkpoints": checkpoints.FORMAT,
    "history": history.FORMAT,
    "predictions": predictions.FORMAT,
    "scores": scores.FORMAT,
    "comparison": comparison.FORMAT,
    "layers": profiles.LAYERS_FORMAT,
    "models": profiles.MODELS_FORMAT,
    "illustrations": illustrations.FORMAT,
}
"""By kind of file. A format stands at the head of the stages that write it too, and these are
part of their own code: one that is raised, because a writer writes something else or a reader no
longer takes the former, makes such files again, and then whatever reads them. Circumstances are not
among them: no training is repeated for the sake of its date, so these only grow, by fields with a
default."""
