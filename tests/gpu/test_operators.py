"""Every operator that runs on a GPU has a deterministic kernel, by torch's own list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from tests.gpu.conftest import Gpu
from tests.gpu.simulated_gpu import recorded
from tests.gpu.small import PIECES, SMALL, TRAINING, labelled, trainer
from torch import nn

from aiayn.config import Decoding
from aiayn.decoding.beam import beam_search
from aiayn.illustrations.attention import attention_maps
from aiayn.model.transformer import Transformer
from aiayn.profiling.layer_types import LAYER_TYPES, Sizes
from aiayn.training.job import Job
from aiayn.training.processes import Processes
from aiayn.training.trainer import Trainer

# ATen's operators behind each name in torch's list of those that are an error in deterministic mode on
# CUDA; none if an operator is listed for tensors that are never used here (quantized)
WITHOUT_DETERMINISTIC_KERNEL = {
    "AvgPool3d": ["avg_pool3d_backward"],
    "AdaptiveAvgPool2d": ["_adaptive_avg_pool2d_backward"],
    "AdaptiveAvgPool3d": ["_adaptive_avg_pool3d_backward"],
    "AdaptiveMaxPool2d": ["adaptive_max_pool2d_backward"],
    "FractionalMaxPool2d": ["fractional_max_pool2d_backward"],
    "FractionalMaxPool3d": ["fractional_max_pool3d_backward"],
    "MaxPool3d": ["max_pool3d_with_indices_backward"],
    "MaxUnpool1d": ["max_unpool2d"],
    "MaxUnpool2d": ["max_unpool2d"],
    "MaxUnpool3d": ["max_unpool3d"],
    "interpolate": [
        "upsample_linear1d_backward", "upsample_bilinear2d_backward", "upsample_bicubic2d_backward",
        "upsample_trilinear3d_backward", "_upsample_bilinear2d_aa_backward",
    ],
    "ReflectionPad1d": ["reflection_pad1d_backward"],
    "ReflectionPad2d": ["reflection_pad2d_backward"],
    "ReflectionPad3d": ["reflection_pad3d_backward"],
    "ReplicationPad1d": ["replication_pad1d_backward"],
    "ReplicationPad2d": ["replication_pad2d_backward"],
    "ReplicationPad3d": ["replication_pad3d_backward"],
    "NLLLoss": ["nll_loss2d_forward", "nll_loss2d_backward"],  # the kernel for (N, C, H, W) alone
    "CTCLoss": ["_ctc_loss_backward", "_cudnn_ctc_loss"],
    "EmbeddingBag": ["_embedding_bag", "_embedding_bag_dense_backward"],
    "put_": ["put_"],
    "histc": ["histc"],
    "bincount": ["bincount"],
    "kthvalue": ["kthvalue"],
    "median": ["median"],
    "grid_sample": ["grid_sampler_2d_backward", "grid_sampler_3d_backward"],
    "cumsum": ["cumsum"],
    "scatter_reduce": ["scatter_reduce", "scatter_reduce_"],
    "resize_": [],
}  # fmt: skip


def torchs_list() -> set[str]:
    """The names in the documentation of torch.use_deterministic_algorithms."""
    text = torch.use_deterministic_algorithms.__doc__ or ""
    (listed,) = re.findall(
        r"throw a\s+:class:`RuntimeError` when ``mode=True``:(.*?)In addition,", text, re.S
    )
    return {name.split(".")[-1] for name in re.findall(r"^ *\* :\w+:`([\w.]+)`", listed, re.M)}


def operators_used(gpu: Gpu, folder: Path) -> set[str]:
    """Every operator of a training, its validation and state, of decoding, maps and table 1's layers."""
    with recorded() as record:
        for precision in ("float32", "bfloat16"):
            for columns in ({"P_drop": 0.1}, {"positions": "learned", "neighbourhood": 4}):
                training = trainer(gpu.open(precision), SMALL.replace(**columns))
                training.step()
                training.validate()
                training.save_state(folder / "state.safetensors", {})
                training.restore_state(folder / "state.safetensors")
                assert training.is_finite()
        device = gpu.open("float32")
        job = Job("x.classifier", "classification", SMALL, TRAINING, 1, "tokens", "code")
        classifier = Trainer(job, labelled(40), labelled(4), device, Processes())
        classifier.step()
        classifier.validate()
        for neighbourhood in (None, 4):
            row = SMALL.replace(neighbourhood=neighbourhood)
            model = Transformer(row, PIECES, max_length=12).eval().to(device.device)
            attention_maps(model, [5, 6, 3], [2, 7])
            for stop in ("bound", "beam"):
                search = Decoding(beam=2, alpha=0.6, extra_length=20, stop=stop)
                beam_search(model, [[5, 6, 3], [7, 3]], search, device)
        for name, layer_type in LAYER_TYPES.items():
            layer = layer_type.build(Sizes(8, 16, 3, 4, 2))
            if not any(isinstance(module, nn.RNNBase) for module in layer.modules()):
                x_1ND = torch.randn(1, 8, 16, device=device.device)
                layer.to(device.device)(x_1ND).sum().backward()
            else:
                # cuDNN's kernels, which are not simulated; documented as deterministic
                assert name in ("recurrent", "lstm", "gru")
        return set(record.operators)


def test_every_operator_has_a_deterministic_kernel(simulated: Gpu, tmp_path: Path) -> None:
    unknown = torchs_list() - WITHOUT_DETERMINISTIC_KERNEL.keys()
    assert not unknown, "torch lists more: add their operators here"
    forbidden = {
        operator for name in torchs_list() for operator in WITHOUT_DETERMINISTIC_KERNEL[name]
    }
    assert len(forbidden) > 20
    operators = operators_used(simulated, tmp_path)
    assert {"mm", "embedding_dense_backward", "topk", "sort", "_fused_adam_"} <= operators
    assert not operators & forbidden


def test_a_forbidden_operator_is_detected(simulated: Gpu) -> None:
    device = simulated.open("float32").device
    with recorded() as record:
        torch.ones(3, device=device).cumsum(0)
    assert "cumsum" in record.operators
    assert "cumsum" in torchs_list()


@pytest.mark.parametrize("name", ["Conv1d", "scatter_add_"])
def test_slow_deterministic_operators_are_not_listed(name: str) -> None:
    assert name not in torchs_list()
