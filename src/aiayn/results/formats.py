"""The format number of each kind of file.

A stage's docstring repeats the formats of the files that it writes. Increase a format, here and in
these docstrings, if a writer changes its output or a reader no longer accepts old files: the
stages, and all stages downstream, then run again. Run metadata has no format here, because no
training is repeated for it: it may only grow, by fields with a default.
"""

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
