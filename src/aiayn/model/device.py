"""The device and number format of a process, set up once, before any tensor."""

from __future__ import annotations

import ctypes
import os
import platform
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache

import torch

from aiayn.errors import TrainingError
from aiayn.model.gpus import is_driver_too_old, require_gpus, visible_gpus
from aiayn.results.machine_metadata import cpu_name

# glibc's mallopt keys: never return large blocks to the system, or every activation pays for fresh
# zeroed pages again (a seventh of a step's time where this was measured). Device.release_memory
# returns free memory from time to time.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
# oneDNN caches a kernel with its buffers, a third of a MB, for each shape of a product, 1024 by
# default; creating one again costs little (docs/decisions/cpu-speed.md)
ONEDNN_KERNELS, KERNELS = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64"
EPS_FLOAT32 = 1.2e-7
ONEDNN_FROM_WIDTH = 128
CUBLAS_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"
NCCL_NVLS = "NCCL_NVLS_ENABLE"
# limit the instructions of the libraries that compute a CPU's products
INSTRUCTION_LIMITS = (
    "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA",
)  # fmt: skip
FIXED_WORKSPACES = (":4096:8", ":16:8")  # with which cuBLAS sums in a fixed order


@dataclass(frozen=True)
class Device:
    """A device and the format of its matrix products; weights are float32 in either.

    `rounds_products`: it computes float32 products in bfloat16 and accumulates in float32, as CPUs
    with AMX can. Then bfloat16 needs no casts.
    """

    device: torch.device
    precision: str
    rounds_products: bool = False

    @property
    def gpu_name(self) -> str | None:
        """The model name of the GPU, if it is one."""
        is_gpu = self.device.type == "cuda"
        return torch.cuda.get_device_name(self.device) if is_gpu else None

    @property
    def instruction_set(self) -> str | None:
        """The instruction set that torch uses on a CPU, and the environment variables that limit
        it: with another one, kernels may sum in another order. None for a GPU.
        """
        if self.device.type != "cpu":
            return None
        limits = (f"{name}={os.environ[name]}" for name in INSTRUCTION_LIMITS if name in os.environ)
        return ", ".join([torch.backends.cpu.get_cpu_capability(), *limits])

    @property
    def kernels(self) -> str:
        """The model name of the GPU or CPU and, for a CPU, its instruction set."""
        return self.gpu_name or f"{cpu_name()}, {self.instruction_set}"

    def autocast(self) -> AbstractContextManager[object]:
        """Matrix products in bfloat16 where that is the precision, else nothing."""
        if self.precision == "bfloat16" and not self.rounds_products:
            return torch.autocast(self.device.type, torch.bfloat16)
        return nullcontext()

    def release_memory(self) -> None:
        """Return freed memory to the system. It takes milliseconds, and the next steps pay for new
        pages; without it, batches of many shapes fragment the heap more and more.
        """
        libc = _glibc()
        if libc is not None and self.device.type == "cpu":
            libc.malloc_trim(0)

    def synchronize(self) -> None:
        """Wait until all queued work is done, so that it can be timed."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def dtype_of_products(weight: torch.Tensor) -> torch.dtype:
    """The format of matrix products with `weight`: autocast's where it is enabled, else the
    weight's own.
    """
    device = weight.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype


def is_fused_attention_fast() -> bool:
    """Whether torch's fused attention is fast on the CPU as it is set up."""
    enabled: bool = torch.backends.cuda.flash_sdp_enabled()  # type: ignore[no-untyped-call]
    return enabled  # despite its name, the setting is the CPU kernel's too


def open_device(
    device: str,
    precision: str,
    *,
    d_model: int,
    threads: int | None = None,
    local_rank: int = 0,
    local_count: int = 1,
) -> Device:
    """Choose and set up the device.

    Args:
        device: auto (a GPU where there is one), cpu or cuda.
        precision: auto (bfloat16 on a GPU, float32 on a CPU), float32 or bfloat16.
        d_model: width of the model that will run; a CPU's product library depends on it.
        threads: of this process, on a CPU; None: torch's default.
        local_rank: number of this process among those of this machine: which GPU it uses.
        local_count: processes of this machine.
    Raises:
        TrainingError: there are fewer GPUs than requested, or their driver is too old; or the
            environment rules out computing the same bits twice.
    """
    if device == "auto":
        device = "cuda" if visible_gpus() or is_driver_too_old() else "cpu"
    if device == "cuda":
        require_gpus(local_count)
    if precision == "auto":
        precision = "bfloat16" if device == "cuda" else "float32"
    # the same as use_deterministic_algorithms, which would import the compiler: 1.5 s. As an error,
    # not a warning: only then do the kernels of attention take their deterministic backward pass
    torch.set_deterministic_debug_mode("error")
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    if device == "cpu":
        if threads is not None:
            torch.set_num_threads(threads)
        rounds = _set_up_cpu(d_model, precision)
        return Device(torch.device("cpu"), precision, rounds)
    _set_up_cuda()
    gpu = torch.device("cuda", local_rank)
    torch.cuda.set_device(gpu)
    return Device(gpu, precision)


def _set_up_cuda() -> None:
    # read by cuBLAS when it starts, which is at the first product
    workspace = os.environ.setdefault(CUBLAS_WORKSPACE, FIXED_WORKSPACES[0])
    if workspace not in FIXED_WORKSPACES:
        raise TrainingError(
            f"{CUBLAS_WORKSPACE} is {workspace!r}, with which sums on a GPU have no fixed order. "
            f"Unset it, or write {' or '.join(FIXED_WORKSPACES)}."
        )
    # NVLink's switches sum in an order that differs between calls; read when NCCL starts
    os.environ.setdefault(NCCL_NVLS, "0")
    torch.backends.cuda.enable_cudnn_sdp(False)  # has no deterministic backward pass
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def _set_up_cpu(d_model: int, precision: str) -> bool:
    """Whether float32 products are now computed in bfloat16."""
    libc = _glibc()
    if libc is not None:
        libc.mallopt(M_MMAP_MAX, 0)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
    os.environ.setdefault(ONEDNN_KERNELS, KERNELS)  # read at the first product
    # "medium" sends float32 products to oneDNN, which computes them faster than the default (MKL)
    # on CPUs not made by Intel, but has more overhead per product. On a CPU with AMX it computes
    # them in bfloat16, which is faster than casting if that is the requested precision.
    wants_bfloat16 = precision == "bfloat16"
    is_wide = d_model >= ONEDNN_FROM_WIDTH
    torch.set_float32_matmul_precision("medium" if wants_bfloat16 or is_wide else "highest")
    rounds = _relative_error_of_products() > 16 * EPS_FLOAT32
    if rounds and not wants_bfloat16:
        torch.set_float32_matmul_precision("highest")
    # through oneDNN the fused attention kernel's many small products are slow, and so is its
    # backward pass in bfloat16; separate products are not
    is_default = torch.get_float32_matmul_precision() == "highest"
    torch.backends.cuda.enable_flash_sdp(is_default)
    return rounds and wants_bfloat16


@cache
def _glibc() -> ctypes.CDLL | None:
    """The C library of this process, if it is the GNU one."""
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


def _relative_error_of_products() -> float:
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(256, 256, generator=generator) for _ in range(2))
    exact = a.double() @ b.double()
    return float((((a @ b) - exact).norm() / exact.norm()).item())
