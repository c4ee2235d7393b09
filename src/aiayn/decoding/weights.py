"""The trained model of a run, ready to decode."""

from __future__ import annotations

from pathlib import Path

from aiayn.compute.device import Device
from aiayn.config import Model
from aiayn.errors import CheckpointError
from aiayn.model.checkpoints import load_weights
from aiayn.model.transformer import Transformer
from aiayn.records import places


def weights_for(split: str, folder: Path) -> Path:
    """The weights in models/RUN that decode a split, by the paper's protocols: its last checkpoint
    for dev (table 3, section 6.2), the averaged ones for a test set (table 2, section 6.1).

    Raises:
        CheckpointError: there is no checkpoint.
    """
    if split != places.DEV:
        return places.averaged(folder)
    saved = places.saved_checkpoints(places.checkpoints(folder))
    if not saved:
        raise CheckpointError(
            f"{places.checkpoints(folder)}: there are no weights. Train first: "
            f"dvc repro train@{folder.name}"
        )
    return saved[-1]


def load_model(path: Path, row: Model, vocabulary: int, device: Device) -> Transformer:
    """The trained model of a row of table 3, ready to decode.

    Raises:
        CheckpointError: the weights are missing, damaged, or of a model of another shape.
    """
    tensors, weights = load_weights(path)
    model = Transformer(row, vocabulary, max_length=weights.max_length)
    own = model.state_dict()
    for name in sorted(own.keys() | tensors.keys()):
        wanted = tuple(own[name].shape) if name in own else None
        found = tuple(tensors[name].shape) if name in tensors else None
        if wanted != found:
            raise CheckpointError(
                f"{path}: {name} has shape {found}, the model in params.yaml wants {wanted}. "
                "The weights belong to other parameters: train again."
            )
    model.load_state_dict(tensors)
    return model.to(device.device).eval()
