"""Tensors on disk: safetensors only, written atomically, self-describing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from aiayn.compute.device import Device
from aiayn.config import Model
from aiayn.errors import CheckpointError
from aiayn.files import write_atomically
from aiayn.model.transformer import Transformer

# one entry, because safetensors writes several in no fixed order
METADATA = "aiayn"
AVERAGED = "averaged.safetensors"


def checkpoint_name(step: int) -> str:
    """File name of the weights after `step` steps; names sort by step."""
    return f"step-{step:07d}.safetensors"


def checkpoints(folder: Path) -> list[Path]:
    """Weights in a folder, oldest first."""
    return sorted(folder.glob("step-*.safetensors"))


def weights_for(split: str, folder: Path) -> Path:
    """The weights in models/RUN that decode a split, by the paper's protocols: its last checkpoint
    for dev (table 3, section 6.2), the averaged ones for a test set (table 2, section 6.1).

    Raises:
        CheckpointError: there is no checkpoint.
    """
    if split != "dev":
        return folder / AVERAGED
    saved = checkpoints(folder / "checkpoints")
    if not saved:
        raise CheckpointError(
            f"{folder / 'checkpoints'}: there are no weights. Train first: "
            f"dvc repro train@{folder.name}"
        )
    return saved[-1]


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors and JSON-able metadata atomically."""
    flat = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, save(flat, {METADATA: json.dumps(metadata, sort_keys=True)}))


def load_tensors(path: Path, device: str = "cpu") -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and metadata of a file that `save_tensors` wrote.

    Raises:
        CheckpointError: missing, damaged, or not ours.
    """
    try:
        with safe_open(path, framework="pt", device=device) as file:
            metadata = json.loads((file.metadata() or {})[METADATA])
            return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path}: there are no weights. Train first: dvc repro train@RUN"
        ) from error
    except (SafetensorError, KeyError, ValueError) as error:
        raise CheckpointError(
            f"{path}: damaged, or not a checkpoint of this project ({error}). "
            "Delete it and train again."
        ) from error


def load_model(path: Path, row: Model, vocabulary: int, device: Device) -> Transformer:
    """The trained model of a row of table 3, ready to decode.

    Raises:
        CheckpointError: the weights are missing, damaged, or of a model of another shape.
    """
    tensors, metadata = load_tensors(path)
    model = Transformer(row, vocabulary, max_length=metadata["max_length"])
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


def average(paths: Sequence[Path]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The mean of each tensor over several checkpoints, and metadata that names their steps.

    Sums in float64, so that the mean does not depend on how the checkpoints are ordered.

    Raises:
        CheckpointError: none given, damaged, or of different models.
    Paper: section 6.1.
    """
    if not paths:
        raise CheckpointError(
            "there are no checkpoints to average. Train first: dvc repro train@RUN"
        )
    sums: dict[str, Tensor] = {}
    steps = []
    metadata: dict[str, Any] = {}
    for path in paths:
        tensors, metadata = load_tensors(path)
        steps.append(int(metadata["step"]))
        if sums and {n: t.shape for n, t in tensors.items()} != {
            n: t.shape for n, t in sums.items()
        }:
            raise CheckpointError(f"{path}: another model than {paths[0]}. Train again.")
        for name, tensor in tensors.items():
            sums[name] = sums.get(name, torch.zeros((), dtype=torch.float64)) + tensor.double()
    mean = {name: (total / len(paths)).float() for name, total in sums.items()}
    return mean, {**metadata, "step": steps[-1], "averaged_steps": steps}
