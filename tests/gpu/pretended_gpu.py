"""Tensors that say they are on cuda:0 and compute real numbers on this CPU.

Every operator goes through `_run`: it refuses what CUDA's kernels refuse (tensors of different devices,
but for scalars and indices), notes what makes the host wait for a GPU, counts kernels, and computes with
the CPU tensors inside. Control flow, autograd, autocast and the optimiser are torch's own.

Works inside `pretended_gpu`, in a process that has loaded cuda_stand_in.cpp before torch.
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
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from aiayn.model import attention
from aiayn.model.device import Device
from aiayn.training.gpu import layers

PRETENDED = "AIAYN_PRETENDED_GPU"  # set in such a process
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
# kernels beyond one of an operator, in deterministic mode (torch's sources in aten/src/ATen/native/cuda)
KERNELS = {
    "_fused_adam_": 2, "constant_pad_nd": 2, "embedding_dense_backward": 9, "masked_fill": 2,
    "native_layer_norm_backward": 2, "residual_norm_backward": 2, "scatter_add_": 16, "index_put_": 12, "_index_put_impl_": 12,
    "_scaled_dot_product_efficient_attention_backward": 3, "_scaled_dot_product_flash_attention_backward": 5,
}  # fmt: skip
if PRETENDED in os.environ:
    # wrapped tensors cannot be made in inference mode; functions are decorated with it when they are
    # imported
    torch.inference_mode = lambda mode=True: torch.no_grad()  # type: ignore
HALF = (torch.bfloat16, torch.float16)


@dataclass
class Record:
    """What has been asked of the pretended GPU."""

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
    """What is asked inside the block."""
    global RECORD
    before, RECORD = RECORD, Record()
    try:
        yield RECORD
    finally:
        RECORD = before


class PretendedTensor(torch.Tensor):
    """A tensor on cuda:0 whose numbers are in `held`, a tensor of the CPU."""

    held: Tensor

    @staticmethod
    def __new__(cls, real: Tensor, requires_grad: bool = False) -> PretendedTensor:
        made: PretendedTensor = torch.Tensor._make_wrapper_subclass(
            cls, real.size(), strides=real.stride(), storage_offset=real.storage_offset(),
            dtype=real.dtype, device=CUDA, requires_grad=requires_grad,
        )  # fmt: skip
        made.held = real
        return made

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"PretendedTensor({self.held!r})"

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
        if not isinstance(new, PretendedTensor):
            raise RuntimeError("the data of a tensor on cuda:0 cannot be of another device")
        self.held = new.held

    def tolist(self) -> Any:
        RECORD.waits["tolist"] += 1
        return self.held.tolist()

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def pin_memory(self, device: object = None) -> Tensor:
        raise RuntimeError("cannot pin a tensor of cuda:0")


class PretendedGpu(TorchDispatchMode):
    """Inside it, what is asked for on device cuda is made there."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(function, args, kwargs or {})


def _run(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    name = function.overloadpacket.__name__
    RECORD.operators[name] += 1
    pretended: list[PretendedTensor] = []
    hosts: list[Tensor] = []

    def held(leaf: Any) -> Any:
        if isinstance(leaf, PretendedTensor):
            pretended.append(leaf)
            return leaf.held
        if isinstance(leaf, Tensor):
            hosts.append(leaf)
        return leaf

    plain_args = _each(held, args)
    plain_kwargs = {key: _each(held, value) for key, value in kwargs.items()}
    asked = plain_kwargs.get("device")
    on_gpu = bool(pretended) if asked is None else torch.device(asked).type == "cuda"
    if name in COPIES:
        on_gpu = isinstance(args[0], PretendedTensor) if name == "copy_" else on_gpu
        _note_copy(name, args, kwargs, on_gpu)
    elif pretended:
        _check_devices(function, name, hosts)
    if name in WAITS or (name in INDEXING and _has_mask(args[1])):
        RECORD.waits[name] += 1
    if asked is not None:
        plain_kwargs["device"] = torch.device("cpu")
    plain_kwargs.pop("pin_memory", None)
    compute: Callable[..., Any] = STAND_INS.get(str(function), STAND_INS.get(name, function))
    out = compute(*plain_args, **plain_kwargs)
    # what was written in place is the tensor that was given
    given = {id(tensor.held): tensor for tensor in pretended} | {id(host): host for host in hosts}

    def wrapped(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) in given:
            return given[id(leaf)]
        return PretendedTensor(leaf) if on_gpu else leaf

    return _each(wrapped, out)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """A value, or what is in its lists and tuples, changed."""
    if isinstance(value, list | tuple):
        return type(value)(_each(change, leaf) for leaf in value)
    return change(value)


def _check_devices(function: Any, name: str, hosts: Sequence[Tensor]) -> None:
    for host in hosts:
        is_index = name in INDEXING and host.dtype in (torch.int64, torch.bool)
        if host.dim() > 0 and not is_index:
            raise RuntimeError(
                f"{function}: expected all tensors to be on the same device, but found cuda:0 and "
                f"cpu (shape {tuple(host.shape)})"
            )


def _note_copy(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], on_gpu: bool) -> None:
    """A copy between host and GPU waits, but for one from pinned memory that need not."""
    source = args[1] if name == "copy_" else args[0]
    if isinstance(source, PretendedTensor) == on_gpu:
        return
    non_blocking = kwargs.get("non_blocking", args[2] if len(args) > 2 else False)
    # a scalar goes as an argument of the kernel
    is_argument = name == "copy_" and source.dim() == 0 and on_gpu
    if not is_argument and not (non_blocking and getattr(source, "was_pinned", False)):
        RECORD.waits[f"{name} {'to' if on_gpu else 'from'} the GPU"] += 1


def _has_mask(indices: Sequence[Tensor | None]) -> bool:
    return any(index is not None and index.dtype == torch.bool for index in indices)


# The fused kernels of attention, which a CPU has under other names: numbers and the layouts of CUDA's; and a
# product with sums of another format. The project's own kernels are in references.py.


def _efficient(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, compute_log_sumexp: bool,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    out, log_sumexp = _attend(q, k, v, bias, is_causal)
    return out, log_sumexp, torch.zeros((), dtype=torch.int64), torch.zeros((), dtype=torch.int64)


def _efficient_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, out: Tensor, lse: Tensor,
    seed: Tensor, offset: Tensor, dropout_p: float, mask: Sequence[bool], is_causal: bool = False,
    *, scale: float | None = None,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    return *_attend_backward(grad, q, k, v, bias, out, lse, is_causal), None


def _flash(
    q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0, is_causal: bool = False,
    return_debug_mask: bool = False, *, scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    assert q.dtype in HALF
    out, log_sumexp = _attend(q, k, v, None, is_causal)
    state = torch.zeros(2, dtype=torch.int64)
    return (
        out, log_sumexp, None, None, q.shape[2], k.shape[2], state, torch.zeros(0, dtype=torch.int64),
        torch.zeros(0),
    )  # fmt: skip


def _flash_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, *rest: Any, **_: Any
) -> tuple[Tensor, ...]:
    is_causal = rest[5]
    return _attend_backward(grad, q, k, v, None, out, lse, is_causal)


def _addmm(
    sums: Tensor,
    a: Tensor,
    b: Tensor,
    dtype: torch.dtype,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor,
) -> Tensor:
    assert sums is out
    assert sums.dtype == dtype == torch.float32
    assert a.dtype == b.dtype == layers.ROUNDED
    return out.add_(a.float() @ b.float())


STAND_INS: dict[str, Callable[..., Any]] = {
    "aten.addmm.dtype_out": _addmm,
    "_scaled_dot_product_efficient_attention": _efficient,
    "_scaled_dot_product_efficient_attention_backward": _efficient_backward,
    "_scaled_dot_product_flash_attention": _flash,
    "_scaled_dot_product_flash_attention_backward": _flash_backward,
}


def _scores(q: Tensor, k: Tensor, bias: Tensor | None, is_causal: bool) -> Tensor:
    scores = q.float() @ k.float().transpose(-2, -1) / q.shape[-1] ** 0.5
    if bias is not None:
        scores = scores + bias.float()
    if is_causal:
        scores = scores.masked_fill(
            ~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -torch.inf
        )
    return scores


def _attend(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, is_causal: bool
) -> tuple[Tensor, Tensor]:
    scores = _scores(q, k, bias, is_causal)
    out = (scores.softmax(-1) @ v.float()).to(q.dtype)
    # (B, T, H, V) in memory
    return out.transpose(1, 2).contiguous().transpose(1, 2), scores.logsumexp(-1)


def _attend_backward(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, out: Tensor, lse: Tensor,
    is_causal: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    weights = (_scores(q, k, bias, is_causal) - lse[..., None]).exp()
    grad = grad.float()
    grad_scores = weights * (
        grad @ v.float().transpose(-2, -1) - (grad * out.float()).sum(-1, keepdim=True)
    )
    grad_scores = grad_scores / q.shape[-1] ** 0.5
    grads = (
        grad_scores @ k.float(),
        grad_scores.transpose(-2, -1) @ q.float(),
        weights.transpose(-2, -1) @ grad,
    )
    return tuple(g.to(q.dtype) for g in grads)  # type: ignore[return-value]


def cuda_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False,
) -> Tensor:  # fmt: skip
    """scaled_dot_product_attention as a CUDA build chooses its kernels (sdp_utils.cpp): flash without a
    mask, else the memory-efficient one, and separate products where heads have other widths than these
    take. A CPU build, asked for cuda, knows only the last.
    """
    if torch.is_autocast_enabled("cuda"):
        query, key, value = (x.to(torch.get_autocast_dtype("cuda")) for x in (query, key, value))
    d_k, d_v = query.shape[-1], value.shape[-1]
    aten = torch.ops.aten
    if attn_mask is None and query.dtype in HALF and d_k == d_v and d_k <= 256 and d_k % 8 == 0:
        out, *_ = aten._scaled_dot_product_flash_attention(query, key, value, 0.0, is_causal, False)
        return out
    alignment = 8 if query.dtype in HALF else 4
    if d_k % alignment or d_v % alignment:
        return aten._scaled_dot_product_attention_math(
            query, key, value, attn_mask, 0.0, is_causal
        )[0]
    bias = None
    if attn_mask is not None:
        bias = torch.zeros_like(attn_mask, dtype=query.dtype)
        bias = bias.masked_fill_(attn_mask.logical_not(), -torch.inf)
        beyond = -bias.shape[-1] % 8
        if beyond:
            bias = nn.functional.pad(bias, (0, beyond))[..., : bias.shape[-1]]
        bias = bias.expand(*query.shape[:3], key.shape[2])
    needs_grad = torch.is_grad_enabled()
    out, *_ = aten._scaled_dot_product_efficient_attention(
        query, key, value, bias, needs_grad, 0.0, is_causal
    )
    return out


def _pinned(tensor: Tensor, device: object = None) -> Tensor:
    tensor.was_pinned = True  # type: ignore[attr-defined]
    return tensor


def _triton_version(device: Device, *, tells: bool) -> str | None:
    is_used = device.device.type == "cuda" and device.precision == "bfloat16"
    return "pretended" if is_used else None


@contextmanager
def answering_for_a_gpu() -> Iterator[None]:
    """Inside it torch says that this machine has a GPU, and attention takes a GPU's kernels."""
    answers = {
        "torch.cuda._lazy_init": None,
        "torch.cuda.is_available": True,
        "torch.cuda.device_count": 1,
        "torch.cuda.set_device": None,
        "torch.cuda.get_device_name": "a pretended GPU",
        "torch.cuda.is_bf16_supported": True,
        "torch.cuda.amp.common.amp_definitely_not_available": False,
    }
    torch._C._ensureCUDADeviceGuardSet()
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch(name, return_value=answer))
        stack.enter_context(mock.patch("torch.Tensor.pin_memory", _pinned))
        stack.enter_context(mock.patch("aiayn.training.trainer.triton_version", _triton_version))
        stack.enter_context(
            mock.patch.object(attention, "scaled_dot_product_attention", cuda_attention)
        )
        yield


@contextmanager
def pretended_gpu() -> Iterator[torch.device]:
    """Inside it this machine has a GPU, which computes on the CPU."""
    torch._C._set_only_lift_cpu_tensors(True)
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    with answering_for_a_gpu(), PretendedGpu():
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
