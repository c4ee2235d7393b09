"""The Triton kernels compared with torch: in Triton's interpreter on a CPU, on a GPU if there is one, and
compiled for the GPUs of the paper's scales, which needs none.

Triton decides on import whether it interprets, so this file runs in a separate process.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.gpu import references
from torch import Tensor
from torch.nn.functional import cross_entropy

INTERPRET = "TRITON_INTERPRET"
HAS_TRITON = importlib.util.find_spec("triton") is not None
HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda" if HAS_GPU else "cpu"
STREAM = 0x123456789ABCDEF
needs_triton = pytest.mark.skipif(not HAS_TRITON, reason="needs triton: pip install triton")
in_a_separate_process = pytest.mark.skipif(
    not HAS_GPU and INTERPRET not in os.environ,
    reason="runs in the process in which Triton interprets",
)


@pytest.mark.slow
@needs_triton
@pytest.mark.skipif(HAS_GPU or INTERPRET in os.environ, reason="the kernels run in this process")
def test_in_the_interpreter() -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", __file__],
        env=os.environ | {INTERPRET: "1"}, capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert completed.returncode == 0, completed.stdout[-6000:] + completed.stderr[-2000:]
    assert " passed" in completed.stdout


def test_random_numbers_are_philoxs() -> None:
    """Known answers of Random123, philox4x32-10."""
    for counter, key, expected in (
        ([0, 0, 0, 0], 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, (1 << 64) - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            0x299F31D0A4093822,
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ):
        assert " ".join(f"{n:08x}" for n in references.philox(key, counter)) == expected


def test_a_mask_drops_the_requested_share() -> None:
    x, stream = torch.empty(200, 512), torch.tensor([STREAM])
    masks = [references.scaled_mask(x, 0.3, stream, site) for site in (1, 2)]
    for mask in masks:
        # 102,400 draws, five standard deviations
        assert float((mask == 0).float().mean()) == pytest.approx(0.3, abs=0.0075)
        assert float(mask.max()) == pytest.approx(1 / 0.7)
    assert float((masks[0] == masks[1]).float().mean()) == pytest.approx(0.58, abs=0.008)


def kernel_and_reference(name: str, *arguments: Any) -> list[list[Tensor]]:
    """The outputs and the arguments after the call, on the CPU: of the kernel, and of the reference."""
    from aiayn.training.gpu import kernels

    found = []
    for function, device in (
        (getattr(kernels, name), DEVICE),
        (references.REFERENCES[name], "cpu"),
    ):
        inputs = [a.clone().to(device) if isinstance(a, Tensor) else a for a in arguments]
        out = function(*inputs)
        tensors = [*(out if isinstance(out, tuple) else (out,)), *inputs]
        found.append([t.cpu() for t in tensors if isinstance(t, Tensor)])
    return found


def check(name: str, *arguments: Any) -> list[Tensor]:
    """Compare kernel and reference, each dtype to its precision; return the kernel's tensors."""
    kernel, reference = kernel_and_reference(name, *arguments)
    for ours, theirs in zip(kernel, reference, strict=True):
        assert ours.dtype == theirs.dtype
        if ours.dtype == torch.bfloat16:
            torch.testing.assert_close(ours, theirs, rtol=0.008, atol=1e-6)
        else:
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=2e-5)
    return kernel


@needs_triton
@in_a_separate_process
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("rows", "pieces"), [(3, 37_001), (5, 4096), (4, 61), (1, 1), (1, 7)])
@pytest.mark.parametrize("eps_ls", [0.0, 0.1])
def test_the_loss(dtype: torch.dtype, rows: int, pieces: int, eps_ls: float) -> None:
    torch.manual_seed(rows)
    logits = (4 * torch.randn(rows, pieces)).to(dtype)
    targets = torch.randint(pieces, (rows,))
    targets[0] = pieces - 1
    pad = int(targets[-1]) if rows > 2 else -1
    check("smoothed_cross_entropy_", logits, targets, eps_ls, pad, True)
    losses, unchanged, _ = check("smoothed_cross_entropy_", logits, targets, eps_ls, pad, False)
    assert torch.equal(unchanged, logits)
    assert rows == 1 or pieces == 1 or float(losses.min()) >= 0


@needs_triton
@in_a_separate_process
def test_nothing_but_padding() -> None:
    logits = torch.full((3, 50), 1e30, dtype=torch.bfloat16)
    losses, gradient, _ = kernel_and_reference(
        "smoothed_cross_entropy_", logits, torch.zeros(3, dtype=torch.int64), 0.1, 0, True
    )[0]
    assert not losses.any()
    assert not gradient.any()


@needs_triton
@in_a_separate_process
def test_logits_of_any_size() -> None:
    """A target piece whose probability is 0 in float32 has a finite loss."""
    logits = torch.tensor([[0.0, -1000.0, 1000.0], [-1e4, -1e4, -1e4]])
    losses = check("smoothed_cross_entropy_", logits, torch.tensor([1, 0]), 0.0, -1, True)[0]
    assert losses[1, 0] == 2000


def test_the_reference_is_torchs_gradient() -> None:
    """For the loss, whose reference is a formula; that of a layer norm is torch's own."""
    torch.manual_seed(0)
    logits, targets = torch.randn(5, 31, requires_grad=True), torch.tensor([3, 0, 30, 7, 0])
    loss = cross_entropy(logits, targets, ignore_index=0, label_smoothing=0.1, reduction="sum")
    loss.backward()
    gradient = logits.detach().clone()
    losses = references.smoothed_cross_entropy_(gradient, targets, 0.1, 0, True)
    torch.testing.assert_close(losses[0].sum(), loss.detach())
    torch.testing.assert_close(gradient, logits.grad)


SIZES = [((2, 3), 512), ((1, 1), 1024), ((3, 4), 20)]


@needs_triton
@in_a_separate_process
@pytest.mark.parametrize(("rows", "d_model"), SIZES)
@pytest.mark.parametrize("p", [0.0, 0.3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_residual_and_norm(
    rows: tuple[int, int],
    d_model: int,
    p: float,
    dtype: torch.dtype,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from aiayn.training.gpu import kernels

    monkeypatch.setattr(kernels, "PROGRAMS", 5)  # fewer than rows
    monkeypatch.setattr(kernels, "ROWS", 2)
    monkeypatch.setattr(kernels, "COLUMNS", 256)
    torch.manual_seed(d_model)
    x = 2 * torch.randn(*rows, d_model) + 1
    y = torch.randn(*rows, d_model).to(dtype)
    weight, bias, grad_weight, grad_bias = torch.randn(4, d_model)
    stream = torch.tensor([STREAM])
    check("residual_norm", x, y, weight, bias, 1e-6, p, stream, 5)
    grads = [torch.randn_like(x), torch.randn_like(x).to(torch.bfloat16)]
    for grad_out, grad_rounded in (grads, (grads[0], None), (None, grads[1])):
        check(
            "residual_norm_backward", grad_out, grad_rounded, x, y, weight, grad_weight, grad_bias,
            1e-6, p, stream, 5,
        )  # fmt: skip


@needs_triton
@in_a_separate_process
@pytest.mark.parametrize(("rows", "d_model"), SIZES)
def test_dropout(rows: tuple[int, int], d_model: int) -> None:
    x, stream = torch.randn(*rows, d_model), torch.tensor([-STREAM])
    rounded = x.to(torch.bfloat16)
    check("dropout", x, 0.1, stream, 7)
    check("dropout", rounded, 0.1, stream, 7)
    for grads in ((x, rounded), (x, None), (None, rounded)):
        check("dropout_backward", *grads, 0.1, stream, 7)


FLOAT, HALF, INTEGER = "*fp32", "*bf16", "*i64"
DROPPED = {"p": "fp32", "stream": INTEGER, "site": "i32", "D": "i32"}
NORM = {"x": FLOAT, "y": HALF, "weight": FLOAT}
GRADS = {"grad_out": FLOAT, "grad_rounded": HALF}
BOTH = {"HAS_OUT": True, "HAS_ROUNDED": True}
# types of the arguments, and constants
COMPILED: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "_smoothed_cross_entropy": (
        {"logits": HALF, "targets": INTEGER, "losses": FLOAT, "eps_ls": "fp32", "pad": "i32",
         "N": "i32", "P": "i32"},
        {"WRITES": True, "BLOCK": 4096},
    ),
    "_residual_norm": (
        NORM | {"bias": FLOAT, "out": FLOAT, "rounded": HALF, "eps": "fp32"} | DROPPED,
        {"DROPS": True, "BLOCK": 1024},
    ),
    "_residual_norm_backward": (
        GRADS | NORM | {"grad_x": FLOAT, "grad_y": HALF, "sums": FLOAT, "eps": "fp32", "N": "i32"} | DROPPED,
        BOTH | {"DROPS": True, "BLOCK": 1024},
    ),
    "_add_columns": (
        {"sums": FLOAT, "grad_weight": FLOAT, "grad_bias": FLOAT, "rows": "i32", "D": "i32"},
        {"ROWS": 64, "COLUMNS": 32},
    ),
    "_dropout": ({"x": FLOAT, "out": FLOAT, "rounded": HALF} | DROPPED, {"BLOCK": 1024}),
    "_dropout_backward": (GRADS | {"grad_x": FLOAT} | DROPPED, BOTH | {"BLOCK": 1024}),
}  # fmt: skip


@pytest.mark.slow
@needs_triton
@pytest.mark.skipif(INTERPRET in os.environ, reason="Triton interprets here")
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("name", COMPILED)
def test_compiled(
    name: str, capability: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    from aiayn.training.gpu import kernels

    types, constants = COMPILED[name]
    kernel = getattr(kernels, name)
    signature = {p: types.get(p, "constexpr") for p in kernel.arg_names}
    assert signature.keys() == types.keys() | constants.keys()
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    warps = 8 if name == "_smoothed_cross_entropy" else 4
    compiled = compile(
        source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps}
    )
    assert f"sm_{capability}" in compiled.asm["ptx"]
    assert len(compiled.asm["cubin"]) > 1000
    # registers spilled to memory would cost the bytes that the kernel saves
    assert "st.local" not in compiled.asm["ptx"]


@needs_triton
def test_every_kernel_is_compiled() -> None:
    """And each operator has a kernel and a reference."""
    from aiayn.training.gpu import kernels

    kernel_names: list[str] = [
        n for n, value in vars(kernels).items() if hasattr(value, "arg_names")
    ]
    helpers = {"_scaled_mask", "_gradient_of_both"}
    assert {*kernel_names} - helpers == COMPILED.keys()
    functions: list[Callable[..., Any]] = [getattr(kernels, n) for n in references.REFERENCES]
    assert all(function.__doc__ for function in functions)
