"""Weights on disk: the same bytes for the same tensors, averages computed by hand, clear errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from aiayn.config import Model
from aiayn.decoding.weights import load_model
from aiayn.errors import CheckpointError
from aiayn.model.checkpoints import (
    average,
    kept_steps,
    load_weights,
    save_tensors,
    save_weights,
)
from aiayn.model.device import Device
from aiayn.model.transformer import Transformer
from aiayn.results import paths
from aiayn.results.checkpoints import Weights

CPU = Device(torch.device("cpu"), "float32")
Row = Callable[..., Model]
WEIGHTS = Weights(
    run="en-de.tiny", model={"steps": 1, "checkpoint_steps": 1, "average": 1}, seed=1, max_length=20,
    step=1,
)  # fmt: skip


def write_checkpoints(folder: Path, *values: list[float], average: int | None = None) -> list[Path]:
    """A checkpoint of every step of a short training; by default, all are averaged."""
    model = {"steps": len(values), "checkpoint_steps": 1, "average": average or len(values)}
    for step, value in enumerate(values, start=1):
        tensors = {"w": torch.tensor(value)}
        weights = WEIGHTS.replace(model=model, step=step)
        save_weights(paths.checkpoint(folder, step), tensors, weights)
    return paths.saved_checkpoints(folder)


def test_average_by_hand(tmp_path: Path) -> None:
    mean, metadata = average(write_checkpoints(tmp_path, [1.0, -2.0], [2.0, 0.0], [6.0, 5.0]))
    assert mean["w"].tolist() == [3.0, 1.0]
    assert mean["w"].dtype == torch.float32
    assert (metadata.step, metadata.averaged_steps) == (3, (1, 2, 3))


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_too_few_checkpoints_to_average(tmp_path: Path, missing: int) -> None:
    files = write_checkpoints(tmp_path, [1.0], [2.0], [6.0])
    remaining = ", ".join(str(step) for step in (1, 2, 3) if step != missing + 1)
    message = (
        f"{tmp_path}: holds the weights of steps {remaining}, but the average is over 1, 2, 3. "
    )
    with pytest.raises(CheckpointError, match=f"{message}Train again: .* train@en-de.tiny"):
        average([path for n, path in enumerate(files) if n != missing])


def test_too_many_checkpoints_to_average(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="steps 1, 2, 3, but the average is over 2, 3. "):
        average(write_checkpoints(tmp_path, [1.0], [2.0], [6.0], average=2))


@pytest.mark.parametrize(
    ("step", "last", "every", "keep", "kept"),
    [
        (10, 10, 3, 3, [6, 9, 10]),  # the last step counts, whatever the interval
        (9, 10, 3, 5, [3, 6, 9]),
        (8, 10, 3, 1, [6]),
        (2, 10, 3, 5, []),
        (2, 2, 3, 5, [2]),
        (300_000, 300_000, 600, 20, list(range(288_600, 300_001, 600))),  # big, section 6.1
    ],
)
def test_kept_steps(step: int, last: int, every: int, keep: int, kept: list[int]) -> None:
    assert kept_steps(step, last=last, every=every, keep=keep) == kept


def test_average_of_one_is_itself(tmp_path: Path) -> None:
    assert (
        average(write_checkpoints(tmp_path, [0.1, 0.7]))[0]["w"].tolist()
        == torch.tensor([0.1, 0.7]).tolist()
    )


def test_names_sort_by_step() -> None:
    names = [paths.checkpoint(Path(), step).name for step in (100_000, 99, 1_500)]
    assert sorted(names) == [
        "step-0000099.safetensors", "step-0001500.safetensors", "step-0100000.safetensors",
    ]  # fmt: skip


def test_saving_is_reproducible(tmp_path: Path) -> None:
    tensors = {name: torch.arange(5.0) for name in "zxyab"}
    for name in ("one", "two"):
        save_tensors(tmp_path / name, tensors, {"b": 1, "a": {"y": 2, "x": 3}})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def save_model(tmp_path: Path, row: Model) -> Path:
    path = tmp_path / "weights.safetensors"
    model = Transformer(row, 11, max_length=20)
    save_weights(path, model.state_dict(), WEIGHTS.replace(model=row.columns))
    return path


@pytest.mark.parametrize("positions", ["sinusoid", "learned"])
def test_a_saved_model_loads_unchanged(tmp_path: Path, tiny: Row, positions: str) -> None:
    row = tiny(positions=positions)
    path = save_model(tmp_path, row)
    model = load_model(path, row, 11, CPU)
    assert not model.training
    written, _ = load_weights(path)
    assert all(torch.equal(tensor, written[name]) for name, tensor in model.state_dict().items())


def test_weights_of_another_model(tmp_path: Path, tiny: Row) -> None:
    path = save_model(tmp_path, tiny())
    with pytest.raises(CheckpointError, match="trained with d_ff 32, the model in .* has 64"):
        load_model(path, tiny(d_ff=64), 11, CPU)
    # of the same shapes
    with pytest.raises(CheckpointError, match="with attention scaled, .* has sigmoid. The"):
        load_model(path, tiny(attention="sigmoid"), 11, CPU)
    load_model(path, tiny(P_drop=0.5, steps=9), 11, CPU)
    with pytest.raises(CheckpointError, match=r"embedding has shape \(11, 16\).* has \(12, 16\)"):
        load_model(path, tiny(), 12, CPU)


def test_checkpoints_of_two_models(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="another model than"):
        average(write_checkpoints(tmp_path, [1.0], [1.0, 2.0]))


def test_nothing_to_average(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoints to average. Train first"):
        average(paths.saved_checkpoints(tmp_path))


def test_weights_with_incomplete_metadata(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    save_tensors(path, {"w": torch.zeros(1)}, {"run": "en-de.any", "step": 1})
    with pytest.raises(
        CheckpointError, match=r"weights.safetensors: model is missing\. .*train again"
    ):
        load_weights(path)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "foreign", "missing"])
def test_a_damaged_file_is_a_one_line_error(tmp_path: Path, damage: str) -> None:
    path = write_checkpoints(tmp_path, [1.0, 2.0])[0]
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[:-3])
    elif damage == "flipped":
        path.write_bytes(b"\xff" + content[1:])
    elif damage == "foreign":
        from safetensors.torch import save_file

        save_file({"w": torch.zeros(1)}, path)
    else:
        path.unlink()
    with pytest.raises(CheckpointError) as error:
        load_weights(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
