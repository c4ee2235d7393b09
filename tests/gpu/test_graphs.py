"""Replayed micro-batches are equal to others to the bit; what cannot be captured, or would be replayed
wrongly, is computed without a graph and reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.gpu.conftest import Gpu
from tests.gpu.simulated_gpu import recorded
from tests.gpu.small import CPU, SMALL, trainer
from tests.gpu.test_training import OneOfSeveral
from torch import Tensor
from torch.nn import functional

from aiayn.config import Model
from aiayn.model.device import Device
from aiayn.model.masks import may_attend_to_earlier
from aiayn.model.variants import AdditiveAttention
from aiayn.training.gpu import graphs
from aiayn.training.gpu.layers import FusedResidual, Kernels
from aiayn.training.loop import fit
from aiayn.training.trainer import Trainer

ROW = SMALL.replace(N=1, P_drop=0.3)
STEPS = 8  # more than three epochs
REPORTED = "Training without CUDA graphs from here on: "
Capture = pytest.CaptureFixture[str]


def make_trainer(device: Device, row: Model = ROW, *, with_graphs: bool = True) -> Trainer:
    return trainer(device, row, with_graphs=with_graphs, micro_batches=2, batch_tokens=640)


def pair(device: Device, row: Model = ROW) -> tuple[Trainer, Trainer]:
    """A trainer with graphs, and one without."""
    return make_trainer(device, row), make_trainer(device, row, with_graphs=False)


def bits(training: Trainer) -> list[Tensor]:
    """The tensors that a step changes."""
    return [x.detach().cpu() for x in (training.flat.values, training.flat.sums, training._loss)]


def train(training: Trainer, steps: int = STEPS) -> Trainer:
    for _ in range(steps):
        training.step()
    return training


def assert_same_bits(first: Trainer, second: Trainer) -> None:
    assert all(map(torch.equal, bits(first), bits(second)))


def replayed(training: Trainer) -> int:
    assert training.graphs is not None
    return training.graphs.replayed


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"positions": "learned", "neighbourhood": 3},
        {"norm": "pre", "positions": "none", "d_k": 4, "d_v": 16},
    ],
)
def test_every_step_equals_one_without_graphs(
    gpu: Gpu, columns: dict[str, object], capsys: Capture
) -> None:
    """Seed, pieces and number of tokens differ at every replay."""
    with_graphs, without = pair(gpu.open("bfloat16"), ROW.replace(**columns))
    for _ in range(STEPS):
        train(with_graphs, 1)
        assert_same_bits(with_graphs, train(without, 1))
    assert replayed(with_graphs) > STEPS // 2
    assert capsys.readouterr().err == ""
    assert with_graphs.validate() == without.validate()


def test_a_replayed_step_waits_for_nothing(gpu: Gpu) -> None:
    training = train(make_trainer(gpu.open("bfloat16")))
    before = replayed(training)
    with gpu.waiting_forbidden():
        training.step()
    assert replayed(training) == before + 2


def test_a_replayed_step_starts_few_kernels(simulated: Gpu) -> None:
    training = train(make_trainer(simulated.open("bfloat16")))
    with recorded() as record:
        training.step()
    # per micro-batch: its stream's number, two copies to the GPU, two to the memory that the graph reads
    assert record.kernels <= 2 * 5 + 8
    assert not {"mm", "embedding", "residual_norm"} & record.operators.keys()


def test_resumed_to_the_same_bits(gpu: Gpu, tmp_path: Path) -> None:
    """The first training replays micro-batches that the resumed one computes without a graph."""
    device, state = gpu.open("bfloat16"), tmp_path / "resume.safetensors"
    uninterrupted = train(make_trainer(device))
    uninterrupted.save_state(state, {})
    resumed = make_trainer(device)
    resumed.restore_state(state)
    for _ in range(4):
        assert_same_bits(train(uninterrupted, 1), train(resumed, 1))
    assert replayed(uninterrupted) > replayed(resumed) == 0


def test_sums_over_processes_are_the_same_with_graphs(gpu: Gpu) -> None:
    """The same parts in the same order, after a replay or inside a backward pass."""
    device = gpu.open("bfloat16")
    processes = [OneOfSeveral(1, 2), OneOfSeveral(1, 2)]
    with_graphs, without = (
        trainer(device, ROW, process, with_graphs=of_first, micro_batches=4)
        for process, of_first in zip(processes, (True, False), strict=True)
    )
    assert_same_bits(train(with_graphs, 20), train(without, 20))
    assert with_graphs.graphs is not None
    assert with_graphs.graphs.started == 40
    assert replayed(with_graphs) > 10
    started, expected = (process.started_sums for process in processes)
    assert [begin for begin, _ in started] == [begin for begin, _ in expected]
    assert all(torch.equal(a, b) for (_, a), (_, b) in zip(started, expected, strict=True))


def test_only_with_the_kernels(gpu: Gpu) -> None:
    assert trainer(CPU, with_graphs=True).graphs is None
    assert trainer(gpu.open("float32"), with_graphs=True).graphs is None


def stream_in_a_new_tensor(kernels: Kernels, number: int) -> None:
    """Graphs would go on reading the tensor of the first capture."""
    stream = torch.full_like(kernels.stream_1, number)
    STREAMS.append(stream)  # freed memory of a GPU may be unmapped
    for module in MODULES:
        if hasattr(module, "stream_1"):
            module.stream_1 = stream


MODULES: list[torch.nn.Module] = []
STREAMS: list[Tensor] = []


def python_number(kernels: Kernels, target_tokens: int) -> int:
    return target_tokens


def torchs_dropout(self: FusedResidual, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    return self.norm(x + functional.dropout(sublayer(x), self.dropout.p))


@pytest.mark.parametrize(
    ("owner", "name", "fault", "is_reproducible"),
    [
        (Kernels, "seed", stream_in_a_new_tensor, True),
        (Kernels, "count", python_number, True),
        (FusedResidual, "forward", torchs_dropout, False),
    ],
)
def test_a_graph_that_would_replay_wrongly(
    gpu: Gpu, owner: type, name: str, fault: object, is_reproducible: bool,
    monkeypatch: pytest.MonkeyPatch, capsys: Capture,
) -> None:  # fmt: skip
    monkeypatch.setattr(owner, name, fault)
    with_graphs, without = pair(gpu.open("bfloat16"))
    for training in (with_graphs, without):
        MODULES[:] = training.model.modules()
        train(training)
    MODULES.clear()
    assert capsys.readouterr().err == f"{REPORTED}a replayed micro-batch has other gradients\n"
    assert replayed(with_graphs) == 0
    if is_reproducible:
        assert_same_bits(with_graphs, without)


def test_gradients_in_another_block_of_memory(gpu: Gpu, capsys: Capture) -> None:
    """Graphs that add to the previous block of memory are no longer used."""
    with_graphs, without = pair(gpu.open("bfloat16"))
    train(with_graphs)
    before = replayed(with_graphs)
    flat, size = with_graphs.flat, with_graphs.flat.values.numel()
    old = flat.sums
    flat.sums = old.clone()
    flat.values.grad = flat.sums[:size]
    begin = 0
    for parameter in with_graphs.model.parameters():
        parameter.grad = flat.sums[begin : begin + parameter.numel()].view_as(parameter)
        begin += parameter.numel()
    assert with_graphs.graphs is not None
    with_graphs.graphs._sums = (flat.sums, with_graphs._loss)
    assert_same_bits(train(with_graphs), train(without, 2 * STEPS))
    assert replayed(with_graphs) > before + STEPS // 2
    assert not torch.equal(old.cpu(), flat.sums.cpu())
    assert capsys.readouterr().err == ""


def test_a_table_of_positions_that_grows(gpu: Gpu) -> None:
    """The longest sentence of a validation replaces the table that graphs read."""
    with_graphs, without = pair(gpu.open("bfloat16"))
    for training in (with_graphs, without):
        train(training)
        with torch.no_grad():
            training.model.target_positions(0, 100)
        training.model.source_positions.table.data.fill_(7)  # seen by both
        train(training)
    assert_same_bits(with_graphs, without)
    assert replayed(with_graphs) > STEPS


def waiting_row(monkeypatch: pytest.MonkeyPatch) -> Model:
    """A model whose mask is copied from the CPU, for which the GPU must wait."""

    def copied(
        self: AdditiveAttention, length: int, may_attend: Tensor | None, *, is_causal: bool
    ) -> Tensor | None:
        on = self.w_q.weight.device
        return may_attend_to_earlier(length).to(on) if is_causal else may_attend

    monkeypatch.setattr(AdditiveAttention, "mask", copied)
    return ROW.replace(attention="additive")


@pytest.mark.parametrize("attention", ["unscaled", "additive", "sigmoid"])
def test_other_kinds_of_attention_are_captured(gpu: Gpu, attention: str) -> None:
    with_graphs, without = pair(gpu.open("bfloat16"), ROW.replace(attention=attention))
    assert_same_bits(train(with_graphs), train(without))
    assert replayed(with_graphs) > 0


def test_a_micro_batch_that_waits_is_not_captured(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    with_graphs, without = pair(gpu.open("bfloat16"), waiting_row(monkeypatch))
    monkeypatch.setattr(torch.cuda, "graph", lambda *_, **__: pytest.fail("captured"))
    assert_same_bits(train(with_graphs, 4), train(without, 4))
    assert capsys.readouterr().err == f"{REPORTED}a micro-batch waits for the GPU\n"
    assert str(with_graphs.graphs).startswith(
        "CUDA graphs: 0 shapes, 0 of 8 micro-batches replayed; not used: "
    )


def test_a_capture_that_fails(gpu: Gpu, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    with_graphs, without = pair(gpu.open("bfloat16"))
    captures = []

    def fails(*_: object, **__: object) -> None:
        captures.append(1)
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate")

    monkeypatch.setattr(torch.cuda, "graph", fails)
    assert_same_bits(train(with_graphs), train(without))
    assert capsys.readouterr().err == f"{REPORTED}CUDA out of memory. Tried to allocate\n"
    assert captures == [1]


def test_a_capture_that_cuda_refuses(
    simulated: Gpu, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """It waits, and torch does not warn about it."""
    monkeypatch.setattr(graphs, "SYNCHRONIZES", "another message")
    with_graphs, without = pair(simulated.open("bfloat16"), waiting_row(monkeypatch))
    assert_same_bits(train(with_graphs, 4), train(without, 4))
    assert capsys.readouterr().err.startswith(
        f"{REPORTED}CUDA error: operation not permitted when stream is capturing"
    )


def test_without_memory_for_more_graphs(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Existing graphs stay in use."""
    device = gpu.open("bfloat16")
    with_graphs, without = pair(device)
    train(with_graphs, 2)
    captured = str(with_graphs.graphs)[:22]
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (24, 100))
    assert_same_bits(train(with_graphs), train(without, STEPS + 2))
    assert str(with_graphs.graphs).startswith(captured)
    assert 0 < replayed(with_graphs) < 2 * STEPS - 2


def test_a_capture_computes_nothing(gpu: Gpu) -> None:
    """A replay reads the current contents of its tensors."""
    device = gpu.open("bfloat16").device
    x, total = (torch.full((3,), value, device=device) for value in (1.0, 10.0))
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=stream):
        total += 2 * x
    assert total.cpu().tolist() == [10.0] * 3
    for value, expected in ((1.0, 12.0), (5.0, 22.0)):
        x.fill_(value)
        graph.replay()
        assert total.cpu().tolist() == [expected] * 3


def test_a_training_reports_its_replays(gpu: Gpu, tmp_path: Path, capsys: Capture) -> None:
    training = make_trainer(gpu.open("bfloat16"))
    fit(training, tmp_path / "scratch")
    assert str(training.graphs).startswith("CUDA graphs: 4 shapes, ")
    assert str(training.graphs) in capsys.readouterr().err.splitlines()
