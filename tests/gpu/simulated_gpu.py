"""Tensors that report the device cuda:0 and compute real numbers on this CPU.

Every operator goes through `_run`: it rejects what CUDA's kernels reject (tensors of different devices,
except for scalars and indices), records what makes the host wait for a GPU, counts kernels, and computes
with the CPU tensors inside. Control flow, autograd, autocast and the optimiser are torch's own.

Works inside `simulated_gpu`, in a process that has loaded cuda_stand_in.cpp before torch.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from tests.gpu import references as references  # registers them
from tests.gpu import simulated_graphs
from tests.gpu.cuda_kernels import STAND_INS, cuda_attention
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from aiayn.model import attention

SIMULATED = "AIAYN_SIMULATED_GPU"  # set in a process with a simulated GPU
CUDA = torch.device("cuda", 0)
COPIES = {"_to_copy", "copy_"}
INDEXING = {"index", "index_put_", "_index_put_impl_"}
# the host needs their result, or its size
WAITS = {"_local_scalar_dense", "is_nonzero", "equal", "nonzero", "masked_select", "_unique2"}
# compute nothing: views, and memory that is not written
WITHOUT_KERNEL = {
    "_reshape_alias", "_unsafe_view", "alias", "as_strided", "detach", "empty", "empty_like", "empty_strided",
    "expand", "lift_fresh", "new_empty", "new_empty_strided", "permute", "select", "slice", "split",
    "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view",
}  # fmt: skip
# kernels of operators that start more than one, in deterministic mode (torch's sources in aten/src/ATen/native/cuda)
KERNELS = {
    "_fused_adam_": 2, "constant_pad_nd": 2, "embedding_dense_backward": 9, "masked_fill": 2,
    "native_layer_norm_backward": 2, "residual_norm_backward": 2, "scatter_add_": 16, "index_put_": 12, "_index_put_impl_": 12,
    "_scaled_dot_product_efficient_attention_backward": 3, "_scaled_dot_product_flash_attention_backward": 5,
}  # fmt: skip


def _no_grad(mode: bool = True) -> torch.no_grad:
    return torch.no_grad()


if SIMULATED in os.environ:
    # wrapped tensors cannot be made in inference mode; functions are decorated with it when they are
    # imported
    mock.patch.object(torch, "inference_mode", _no_grad).start()


@dataclass
class Record:
    """Operators run on the simulated GPU, and waits for it."""

    operators: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)

    @property
    def kernels(self) -> int:
        return sum(
            KERNELS.get(name, 1) * number
            for name, number in self.operators.items()
            if name not in WITHOUT_KERNEL
        )


RECORD = Record()


@contextmanager
def recorded() -> Iterator[Record]:
    """The record of the block."""
    global RECORD
    before, RECORD = RECORD, Record()
    try:
        yield RECORD
    finally:
        RECORD = before


class SimulatedTensor(torch.Tensor):
    """A tensor on cuda:0 whose numbers are in `cpu_tensor`."""

    cpu_tensor: Tensor

    @staticmethod
    def __new__(cls, real: Tensor, requires_grad: bool = False) -> SimulatedTensor:
        tensor: SimulatedTensor = torch.Tensor._make_wrapper_subclass(
            cls, real.size(), strides=real.stride(), storage_offset=real.storage_offset(),
            dtype=real.dtype, device=CUDA, requires_grad=requires_grad,
        )  # fmt: skip
        tensor.cpu_tensor = real
        return tensor

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"SimulatedTensor({self.cpu_tensor!r})"

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(function, args, kwargs or {})

    @property
    def data(self) -> Tensor:
        return self.detach()

    @data.setter
    def data(self, new: Tensor) -> None:
        if not isinstance(new, SimulatedTensor):
            raise RuntimeError("the data of a tensor on cuda:0 cannot be of another device")
        self.cpu_tensor = new.cpu_tensor

    def data_ptr(self) -> int:
        return self.cpu_tensor.data_ptr()

    def tolist(self) -> Any:
        RECORD.waits["tolist"] += 1
        return self.cpu_tensor.tolist()

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def pin_memory(self, device: object = None) -> Tensor:
        raise RuntimeError("cannot pin a tensor of cuda:0")


class SimulatedGpu(TorchDispatchMode):
    """Inside it, tensors requested on the device cuda are simulated."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(function, args, kwargs or {})


def _run(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    name = function.overloadpacket.__name__
    RECORD.operators[name] += 1
    simulated: list[SimulatedTensor] = []
    host_tensors: list[Tensor] = []

    def unwrapped(leaf: Any) -> Any:
        if isinstance(leaf, SimulatedTensor):
            simulated.append(leaf)
            return leaf.cpu_tensor
        if isinstance(leaf, Tensor):
            host_tensors.append(leaf)
        return leaf

    plain_args = _map_nested(unwrapped, args)
    plain_kwargs = {key: _map_nested(unwrapped, value) for key, value in kwargs.items()}
    requested_device = plain_kwargs.get("device")
    on_gpu = (
        bool(simulated)
        if requested_device is None
        else torch.device(requested_device).type == "cuda"
    )
    if name in COPIES:
        on_gpu = isinstance(args[0], SimulatedTensor) if name == "copy_" else on_gpu
        _record_copy(name, args, kwargs, on_gpu)
    elif simulated:
        _check_devices(function, name, host_tensors)
    if name in WAITS or (name in INDEXING and _has_mask(args[1])):
        _record_wait(name)
    if requested_device is not None:
        plain_kwargs["device"] = torch.device("cpu")
    plain_kwargs.pop("pin_memory", None)
    compute: Callable[..., Any] = STAND_INS.get(str(function), STAND_INS.get(name, function))
    out = simulated_graphs.computed(function, compute, plain_args, plain_kwargs, host_tensors)
    # an operator that writes in place returns its input
    inputs = {id(tensor.cpu_tensor): tensor for tensor in simulated} | {
        id(host): host for host in host_tensors
    }

    def wrapped(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) in inputs:
            return inputs[id(leaf)]
        return SimulatedTensor(leaf) if on_gpu else leaf

    return _map_nested(wrapped, out)


def _map_nested(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply `change` to a value, or to all values in its lists and tuples."""
    if isinstance(value, list | tuple):
        return type(value)(_map_nested(change, leaf) for leaf in value)
    return change(value)


def _check_devices(function: Any, name: str, host_tensors: Sequence[Tensor]) -> None:
    for host in host_tensors:
        is_index = name in INDEXING and host.dtype in (torch.int64, torch.bool)
        if host.dim() > 0 and not is_index:
            raise RuntimeError(
                f"{function}: expected all tensors to be on the same device, but found cuda:0 and "
                f"cpu (shape {tuple(host.shape)})"
            )


def _record_copy(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], on_gpu: bool) -> None:
    """A copy between host and GPU waits, except for a non-blocking one from pinned memory."""
    source = args[1] if name == "copy_" else args[0]
    if isinstance(source, SimulatedTensor) == on_gpu:
        return
    non_blocking = kwargs.get("non_blocking", args[2] if len(args) > 2 else False)
    # a scalar goes as an argument of the kernel
    is_argument = name == "copy_" and source.dim() == 0 and on_gpu
    if not is_argument and not (non_blocking and getattr(source, "was_pinned", False)):
        _record_wait(f"{name} {'to' if on_gpu else 'from'} the GPU")


def _record_wait(reason: str) -> None:
    """The host waits for the GPU."""
    simulated_graphs.forbid_to_wait()
    RECORD.waits[reason] += 1


def _has_mask(indices: Sequence[Tensor | None]) -> bool:
    return any(index is not None and index.dtype == torch.bool for index in indices)


def _pinned(tensor: Tensor, device: object = None) -> Tensor:
    tensor.was_pinned = True  # type: ignore[attr-defined]
    return tensor


@contextmanager
def answering_for_a_gpu() -> Iterator[None]:
    """Inside it torch reports that this machine has a GPU, and attention uses a GPU's kernels."""
    answers = {
        "torch.cuda._lazy_init": None,
        "torch.cuda.is_available": True,
        "torch.cuda.device_count": 1,
        "torch.cuda.set_device": None,
        "torch.cuda.get_device_name": "a simulated GPU",
        "torch.cuda.is_bf16_supported": True,
        "torch.cuda.amp.common.amp_definitely_not_available": False,
        "torch.cuda.synchronize": None,
        "torch.cuda.empty_cache": None,
        "torch.cuda.mem_get_info": (80 << 30, 80 << 30),
    }
    torch._C._ensureCUDADeviceGuardSet()
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch(name, return_value=answer))
        stack.enter_context(mock.patch("torch.Tensor.pin_memory", _pinned))
        stack.enter_context(
            mock.patch("aiayn.training.gpu.check.triton_version", return_value="simulated")
        )
        stack.enter_context(
            mock.patch.object(attention, "scaled_dot_product_attention", cuda_attention)
        )
        for name in simulated_graphs.PATCHED:
            stack.enter_context(mock.patch(f"torch.cuda.{name}", getattr(simulated_graphs, name)))
        yield


@contextmanager
def simulated_gpu() -> Iterator[torch.device]:
    """Inside it this machine has a simulated GPU."""
    torch._C._set_only_lift_cpu_tensors(True)
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    with answering_for_a_gpu(), SimulatedGpu():
        yield CUDA
    torch.__future__.set_overwrite_module_params_on_conversion(False)
    torch._C._set_only_lift_cpu_tensors(False)


def build_stand_in(folder: Path) -> Path:
    """cuda_stand_in.cpp, compiled as a library."""
    library, torch_folder = folder / "cuda_stand_in.so", Path(torch.__file__).parent
    includes = [torch_folder / "include", torch_folder / "include/torch/csrc/api/include"]
    subprocess.run(
        [
            "g++", "-O0", "-std=c++20", "-shared", "-fPIC", *(f"-I{folder}" for folder in includes),
            Path(__file__).with_name("cuda_stand_in.cpp"), f"-L{torch_folder / 'lib'}",
            f"-Wl,-rpath,{torch_folder / 'lib'}", "-lc10", "-ltorch_cpu", "-o", library,
        ],
        check=True,
    )  # fmt: skip
    return library
