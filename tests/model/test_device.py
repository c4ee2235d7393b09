"""Reproducible to the bit, or an error; tests that need a GPU are skipped without one."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from aiayn.errors import TrainingError
from aiayn.model.device import (
    CUBLAS_WORKSPACE,
    INSTRUCTION_LIMITS,
    NCCL_NVLS,
    Device,
    dtype_of_products,
    open_device,
)


@pytest.fixture(autouse=True)
def _restore_torch_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """torch's settings are those of the process: other tests need them restored."""
    mode, products = torch.get_deterministic_debug_mode(), torch.get_float32_matmul_precision()
    reduced = torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
    flash, cudnn = torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.cudnn_sdp_enabled()
    for name in (CUBLAS_WORKSPACE, NCCL_NVLS):
        monkeypatch.delenv(name, raising=False)
    yield
    torch.set_deterministic_debug_mode(mode)
    torch.set_float32_matmul_precision(products)
    torch.backends.cuda.enable_flash_sdp(flash)
    torch.backends.cuda.enable_cudnn_sdp(cudnn)
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = reduced


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which torch claims to see a GPU; nothing is computed on it."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)


@pytest.mark.usefixtures("gpu")
def test_on_a_gpu_a_nondeterministic_kernel_is_an_error() -> None:
    """torch's flash and memory-efficient attention use their deterministic backward pass in this
    mode alone, not with warnings only."""
    opened = open_device("auto", "auto", d_model=512)
    assert (opened.device.type, opened.precision) == ("cuda", "bfloat16")
    assert torch.are_deterministic_algorithms_enabled()
    assert not torch.is_deterministic_algorithms_warn_only_enabled()
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    assert os.environ[CUBLAS_WORKSPACE] == ":4096:8"
    assert os.environ[NCCL_NVLS] == "0"
    assert not torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction


@pytest.mark.usefixtures("gpu")
def test_a_nondeterministic_cublas_workspace_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CUBLAS_WORKSPACE, ":0:0")
    with pytest.raises(TrainingError, match="CUBLAS_WORKSPACE_CONFIG is ':0:0'.* Unset it"):
        open_device("cuda", "float32", d_model=512)
    monkeypatch.setenv(CUBLAS_WORKSPACE, ":16:8")
    open_device("cuda", "float32", d_model=512)


def test_auto_is_the_cpu_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert open_device("auto", "auto", d_model=512) == Device(torch.device("cpu"), "float32")


def test_the_cpu_is_deterministic_too() -> None:
    open_device("cpu", "float32", d_model=64)
    assert torch.get_deterministic_debug_mode() == 2


@pytest.mark.parametrize("d_model", [64, 128, 512])
@pytest.mark.parametrize(
    ("precision", "lower", "upper"), [("float32", 0, 2**-20), ("bfloat16", 2**-11, 2**-7)]
)
def test_products_on_a_cpu_have_the_requested_precision(
    precision: str, d_model: int, lower: float, upper: float
) -> None:
    """Whether this CPU rounds float32 operands itself or casts them. bfloat16 has 8 significant bits,
    float32 24."""
    device = open_device("cpu", precision, d_model=d_model, threads=1)
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(300, 300, generator=generator) for _ in range(2))
    with device.autocast():
        product = (a @ b).double()
    exact = a.double() @ b.double()
    assert lower <= float((product - exact).norm() / exact.norm()) < upper


def test_products_have_the_dtype_of_autocast() -> None:
    weight = torch.zeros(2, 2)
    assert dtype_of_products(weight) == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert dtype_of_products(weight) == torch.bfloat16


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU here")
def test_a_gpu_computes_the_same_bits_twice() -> None:
    """Attention over a batch of sentences, masked and causal, forward and backward."""
    device = open_device("cuda", "bfloat16", d_model=512).device
    may_attend = torch.rand(32, 1, 1, 128, device=device) < 0.8
    may_attend[..., 0] = True
    for mask in (None, may_attend):
        gradients = []
        for _ in range(5):
            generator = torch.Generator(device).manual_seed(0)
            x = torch.randn(3, 32, 8, 128, 64, device=device, generator=generator)
            q, k, v = x.bfloat16().requires_grad_().unbind()
            out = torch.nn.functional.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, is_causal=mask is None
            )
            gradients.append(torch.autograd.grad(out.float().square().sum(), (q, k, v)))
        for repeated in gradients[1:]:
            assert all(map(torch.equal, gradients[0], repeated))


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_freed_memory_is_returned_to_the_system() -> None:
    """In a separate process: its allocator settings cannot be undone."""
    script = """
import resource, torch
from pathlib import Path
from aiayn.model.device import open_device

def resident():  # MB
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() >> 20

device = open_device("cpu", "float32", d_model=64)
before = resident()
blocks = [torch.ones(1 << 18) for _ in range(400)]  # a MB each
blocks = blocks[::8]  # those that stay are scattered
freed = resident() - before
device.release_memory()
print(freed, resident() - before, len(blocks), all(block.sum() == 1 << 18 for block in blocks))
"""
    completed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    freed, left, blocks, is_whole = completed.stdout.split()
    assert int(freed) >= 390, "a step's memory stays with the process"
    assert int(left) < 2 * int(blocks)
    assert is_whole == "True"


def test_a_limit_on_instructions_is_in_the_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = Device(torch.device("cpu"), "float32")
    for name in INSTRUCTION_LIMITS:
        monkeypatch.delenv(name, raising=False)
    assert cpu.instruction_set == torch.backends.cpu.get_cpu_capability()
    unlimited = cpu.kernels
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    assert str(cpu.instruction_set).endswith(", ONEDNN_MAX_CPU_ISA=AVX2")
    assert cpu.kernels != unlimited, "a training started without the limit is not continued with it"
