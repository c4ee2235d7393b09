"""The weights and search parameters for each split (section 6), and loading weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor

from aiayn.config import Decoding, Model, Task
from aiayn.errors import CheckpointError
from aiayn.model.checkpoints import load_weights
from aiayn.model.classifier import Classifier
from aiayn.model.device import Device
from aiayn.model.encoder import Encoding
from aiayn.model.transformer import Transformer
from aiayn.results import paths

M = TypeVar("M", bound=Encoding)

# how a model is trained; all other columns change what it computes
OF_TRAINING = {"P_drop", "eps_ls", "steps", "average", "checkpoint_steps"}


@dataclass(frozen=True)
class Part:
    """The sentences of a split, decoded in one of paths.DECODING_MODES (test sets always with the
    averaged weights). `search` is None for a classification."""

    split: str
    mode: str
    search: Decoding | None

    @property
    def is_averaged(self) -> bool:
        """Whether the averaged weights are used, rather than the last checkpoint."""
        return self.mode != paths.LAST

    def hypotheses(self, folder: Path) -> Path:
        """The path of the outputs, in the folder of a run's outputs."""
        if self.split == paths.DEV:
            return paths.dev_hypotheses(folder, self.mode)
        return paths.hypotheses(folder, self.split)


def parts(task: Task, splits: Sequence[str]) -> Iterator[Part]:
    """Dev with the last checkpoint (table 3, section 6.2) and every test set with the averaged
    weights (table 2, section 6.1). A tested translation run also decodes dev with the averaged
    weights, by beam search and greedily, to measure the gain of averaging and of beam search.

    Args:
        splits: dev and, if the run is tested, the test sets.
    """
    yield Part(paths.DEV, paths.LAST, task.decoding)
    tests = [split for split in splits if split != paths.DEV]
    for split in tests:
        yield Part(split, paths.AVERAGED, task.decoding)
    if tests and task.kind == "translation":
        yield Part(paths.DEV, paths.AVERAGED, task.decoding)
        yield Part(paths.DEV, paths.GREEDY, task.search.replace(beam=1))


def weights_in(folder: Path, *, averaged: bool) -> Path:
    """The weights in models/RUN: the mean of the last checkpoints, or the last one.

    Raises:
        CheckpointError: there is no checkpoint.
    """
    if averaged:
        return paths.averaged(folder)
    saved = paths.saved_checkpoints(paths.checkpoints(folder))
    if not saved:
        raise CheckpointError(
            f"{paths.checkpoints(folder)}: there are no checkpoints. Train first: "
            f"dvc repro train@{folder.name}"
        )
    return saved[-1]


def load_model(path: Path, row: Model, vocabulary: int, device: Device) -> Transformer:
    """The trained model of a row of table 3, in evaluation mode.

    Raises:
        CheckpointError: the weights are missing, damaged, not finite, or of another model.
    """
    tensors, weights = load_weights(path)
    _check_model(weights.model, row, path)
    model = Transformer(row, vocabulary, max_length=weights.max_length)
    return _filled(model, tensors, path, device)


def load_classifier(
    path: Path, row: Model, vocabulary: int, labels: int, device: Device
) -> Classifier:
    """As `load_model`, for a classifier of `labels` labels."""
    tensors, weights = load_weights(path)
    _check_model(weights.model, row, path)
    model = Classifier(row, vocabulary, labels, max_length=weights.max_length)
    return _filled(model, tensors, path, device)


def _check_model(trained: Mapping[str, Any], row: Model, path: Path) -> None:
    optional = {
        name: field.default for name, field in Model.model_fields.items() if not field.is_required()
    }
    before, now = {**optional, **trained}, row.model_dump()
    for name in sorted((before.keys() | now.keys()) - OF_TRAINING):
        if before.get(name) != now.get(name):
            raise CheckpointError(
                f"{path}: was trained with {name} {before.get(name)}, the model in params.yaml has "
                f"{now.get(name)}. The weights belong to other parameters: train again."
            )


def _filled(model: M, tensors: Mapping[str, Tensor], path: Path, device: Device) -> M:
    own = model.state_dict()
    for name in sorted(own.keys() | tensors.keys()):
        expected = tuple(own[name].shape) if name in own else None
        found = tuple(tensors[name].shape) if name in tensors else None
        if expected != found:
            raise CheckpointError(
                f"{path}: {name} has shape {found}, the model in params.yaml has {expected}. "
                "The weights belong to other parameters: train again."
            )
        if not tensors[name].isfinite().all():
            raise CheckpointError(f"{path}: {name} has NaN or infinite values. Train again.")
    model.load_state_dict(tensors)
    return model.to(device.device).eval()
