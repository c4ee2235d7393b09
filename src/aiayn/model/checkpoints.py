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

from aiayn.errors import CheckpointError
from aiayn.files import write_atomically
from aiayn.results import checkpoints
from aiayn.results.checkpoints import Weights

# one entry, because safetensors writes several in no fixed order
METADATA = "aiayn"


def kept_steps(step: int, *, last: int, every: int, keep: int) -> list[int]:
    """The steps whose weights are on disk after `step` steps of a training.

    Args:
        last: the final step; its weights are kept whatever the interval.
        every: the interval between checkpoints.
        keep: how many are kept, the newest.
    """
    saved = list(range(every, step + 1, every))
    if step == last and step % every:
        saved.append(step)
    return saved[-keep:]


def save_weights(path: Path, tensors: Mapping[str, Tensor], weights: Weights) -> None:
    """Write a model's weights and their metadata atomically."""
    _save(path, tensors, checkpoints.content(weights))


def load_weights(path: Path) -> tuple[dict[str, Tensor], Weights]:
    """What `save_weights` wrote.

    Raises:
        CheckpointError: missing, damaged, or not ours.
    """
    tensors, metadata = _load(path)
    return tensors, checkpoints.parse(metadata, path)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write tensors and JSON-able metadata atomically."""
    _save(path, tensors, json.dumps(metadata, sort_keys=True))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], Any]:
    """Tensors and metadata of a file that `save_tensors` wrote.

    Raises:
        CheckpointError: missing, damaged, or not ours.
    """
    tensors, metadata = _load(path)
    return tensors, json.loads(metadata)


def _save(path: Path, tensors: Mapping[str, Tensor], metadata: str) -> None:
    flat = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, save(flat, {METADATA: metadata}))


def _load(path: Path) -> tuple[dict[str, Tensor], str]:
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            metadata: str = (file.metadata() or {})[METADATA]
            return {name: file.get_tensor(name) for name in file.keys()}, metadata  # noqa: SIM118
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path}: there are no weights. Train first: dvc repro train@RUN"
        ) from error
    except (SafetensorError, KeyError, ValueError) as error:
        what = f"damaged, or not a checkpoint of this project ({error})."
        raise checkpoints.file_error(path, what) from error


def average(paths: Sequence[Path]) -> tuple[dict[str, Tensor], Weights]:
    """The mean of each tensor over several checkpoints, and its metadata.

    Sums in float64, so that the mean does not depend on how the checkpoints are ordered.

    Raises:
        CheckpointError: none given, damaged, of different models, or not those that a training of
            this model keeps.
    Paper: section 6.1.
    """
    if not paths:
        raise CheckpointError(
            "there are no checkpoints to average. Train first: dvc repro train@RUN"
        )
    sums: dict[str, Tensor] = {}
    held: list[Weights] = []
    for path in paths:
        tensors, weights = load_weights(path)
        held.append(weights)
        if sums and {n: t.shape for n, t in tensors.items()} != {
            n: t.shape for n, t in sums.items()
        }:
            raise CheckpointError(f"{path}: another model than {paths[0]}. Train again.")
        for name, tensor in tensors.items():
            sums[name] = sums.get(name, torch.zeros((), dtype=torch.float64)) + tensor.double()
    model, steps = held[-1].model, tuple(weights.step for weights in held)
    expected = kept_steps(
        model["steps"], last=model["steps"], every=model["checkpoint_steps"], keep=model["average"]
    )
    if steps != tuple(expected):
        raise CheckpointError(
            f"{paths[0].parent}: holds the weights of steps {_listed(steps)}, but the average is "
            f"over {_listed(expected)}. Train again: dvc repro -f train@{held[-1].run}"
        )
    mean = {name: (total / len(paths)).float() for name, total in sums.items()}
    return mean, held[-1].replace(averaged_steps=steps)


def _listed(steps: Sequence[int]) -> str:
    return ", ".join(map(str, steps)) or "none"
